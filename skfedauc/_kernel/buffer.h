// Uninitialized memory, with checks of bounds in a debug build.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

template <class T>
struct Span {
    T* data;
    std::size_t size;

    T& operator[](std::size_t i) const {
        assert(i < size);
        return data[i];
    }
    Span part(std::size_t begin, std::size_t end) const {
        assert(begin <= end && end <= size);
        return {data + begin, end - begin};
    }
    T* begin() const { return data; }
    T* end() const { return data + size; }
};

template <class T>
class Buffer {
   public:
    explicit Buffer(std::size_t size = 0) : size_(size) {
        const std::size_t bytes = std::max(size, std::size_t(1)) * sizeof(T);
#ifdef __linux__
        // With small pages, the page faults of a large array take as long as sorting it.
        constexpr std::size_t page = 1 << 21;
        if (bytes >= page) {
            const std::size_t pages = (bytes + page - 1) / page * page;
            data_.reset(static_cast<T*>(std::aligned_alloc(page, pages)));
            if (data_) madvise(data_.get(), pages, MADV_HUGEPAGE);
        } else
#endif
            data_.reset(static_cast<T*>(std::malloc(bytes)));
        if (!data_) throw std::bad_alloc();
    }

    T& operator[](std::size_t i) const { return span()[i]; }
    Span<T> span() const { return {data_.get(), size_}; }
    std::size_t size() const { return size_; }
    T* release() { return data_.release(); }
    // Free the memory beyond the first `size` items.
    void shrink(std::size_t size) {
        void* moved = std::realloc(data_.get(), std::max(size, std::size_t(1)) * sizeof(T));
        if (moved) {
            data_.release();
            data_.reset(static_cast<T*>(moved));
        }
        size_ = size;
    }

   private:
    struct Free {
        void operator()(T* data) const { std::free(data); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};
