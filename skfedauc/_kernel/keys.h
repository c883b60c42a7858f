// Scores as unsigned integers that sort as the scores do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

inline std::uint64_t bits_of(double score) {
    std::uint64_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return bits;
}

inline std::uint32_t bits_of(float score) {
    std::uint32_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return bits;
}

// Positive floats sort as their bits do, negative ones the other way round.
template <class Float>
auto key_of(Float score) {
    auto bits = bits_of(score + Float(0));  // -0.0 becomes 0.0
    using Key = decltype(bits);
    constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
    return Key(bits ^ (bits & sign ? ~Key(0) : sign));
}

template <class Float, class Key>
double score_of(Key key) {
    constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
    key ^= key & sign ? sign : ~Key(0);
    Float score;
    std::memcpy(&score, &key, sizeof score);
    return score;
}

inline double score_of(std::uint64_t key) { return score_of<double>(key); }
inline double score_of(std::uint32_t key) { return score_of<float>(key); }

inline int bit_width(std::uint64_t number) {
    int width = 0;
    for (int half = 32; half; half /= 2)
        if (number >> half) {
            width += half;
            number >>= half;
        }
    return width + int(number);
}
