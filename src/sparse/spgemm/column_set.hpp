// The set of a row's columns: bits in words of 64 columns, and the list of words with a bit.
//
// Columns of a row of B that share a word are added at once. Words lie in an array by number, or, beyond
// `most_direct` columns, in a hash table, so that memory follows the row and not the matrix.
#pragma once

#include "formats/rows/row_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace spargo::detail::spgemm {

template <class I>
class column_set {
 public:
  // 1 MiB of words, which stays in an L2 cache.
  static constexpr std::int64_t most_direct = std::int64_t{1} << 23;

  explicit column_set(std::int64_t cols) : direct_(cols <= most_direct), all_words_(cols / 64 + 1) {
    if (direct_) bits_.resize(static_cast<std::size_t>(all_words_));
  }

  // Prepares the empty set for a row with at most `products` columns.
  void expect(std::int64_t products) {
    if (direct_) return;
    const auto size = std::bit_ceil(static_cast<std::uint64_t>(2 * std::min(products, all_words_) + 2));
    if (bits_.size() < size) {
      bits_.resize(size);
      words_.resize(size);
    }
    shift_ = 64 - std::countr_zero(size);
    mask_ = size - 1;
  }

  void add(const I* columns, std::int64_t count) {
    if (count == 0) return;
    I word = columns[0] >> 6;
    std::uint64_t bits = bit_of(columns[0]);
    for (std::int64_t k = 1; k < count; ++k) {
      const I next = columns[k] >> 6;
      if (next != word) {
        add(word, bits);
        word = next;
        bits = 0;
      }
      bits |= bit_of(columns[k]);
    }
    add(word, bits);
  }

  // Writes the ascending columns to `to`, unless null, and empties the set. Returns their number.
  std::int64_t drain(I* to) {
    const auto touched = static_cast<std::int64_t>(touched_.size());
    spare_.resize(touched_.size());
    sort_row<I, pattern>(touched_.data(), nullptr, spare_.data(), nullptr, touched);
    std::int64_t count = 0;
    for (const I word : touched_) {
      std::uint64_t& bits = bits_[index_of(word)];
      if (to == nullptr) {
        count += std::popcount(bits);
      } else {
        for (std::uint64_t left = bits; left != 0; left &= left - 1) {
          to[count++] = static_cast<I>(word * 64 + std::countr_zero(left));
        }
      }
      bits = direct_ ? 0 : bits;
    }
    if (!direct_) clear_hashed();
    touched_.clear();
    return count;
  }

 private:
  static std::uint64_t bit_of(I column) { return std::uint64_t{1} << (column & 63); }

  // The slot of a word's bits. Hashed words are found by their number; an empty slot has no bits.
  [[nodiscard]] std::size_t index_of(I word) const {
    if (direct_) return static_cast<std::size_t>(word);
    std::size_t s = (static_cast<std::uint64_t>(word) * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (bits_[s] != 0 && words_[s] != word) s = (s + 1) & mask_;
    return s;
  }
  void add(I word, std::uint64_t bits) {
    const std::size_t s = index_of(word);
    if (bits_[s] == 0) {
      touched_.push_back(word);
      if (!direct_) words_[s] = word;
    }
    bits_[s] |= bits;
  }
  void clear_hashed() {
    places_.clear();
    for (const I word : touched_) places_.push_back(index_of(word));
    for (const std::size_t s : places_) bits_[s] = 0;
  }

  bool direct_;
  std::int64_t all_words_;
  int shift_ = 63;
  std::size_t mask_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<I> words_;    // of hashed bits
  std::vector<I> touched_;  // words with bits
  std::vector<I> spare_;
  std::vector<std::size_t> places_;
};

}  // namespace spargo::detail::spgemm
