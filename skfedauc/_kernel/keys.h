// Scores as unsigned integers with the order of the scores.
#pragma once
#include <bit>
#include <cstdint>

// The bits of positive floats have the order of the floats. The bits of negative floats have the
// reverse order of the floats.
template <class Key>
constexpr Key SIGN = Key(1) << (8 * sizeof(Key) - 1);
template <class Key>
Key key_of_bits(Key bits) { return bits ^ (bits & SIGN<Key> ? ~Key(0) : SIGN<Key>); }
template <class Key>
Key bits_of_key(Key key) { return key ^ (key & SIGN<Key> ? SIGN<Key> : ~Key(0)); }

// -0.0 becomes 0.0.
inline std::uint64_t key_of(double score) { return key_of_bits(std::bit_cast<std::uint64_t>(score + 0.0)); }
inline std::uint32_t key_of(float score) { return key_of_bits(std::bit_cast<std::uint32_t>(score + 0.0f)); }
inline double score_of(std::uint64_t key) { return std::bit_cast<double>(bits_of_key(key)); }
inline double score_of(std::uint32_t key) { return std::bit_cast<float>(bits_of_key(key)); }
