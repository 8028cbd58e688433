// The body of an answer in pieces: a large one grows without copies, and its pieces lie outside the heap,
// where memory returns to the system at once. Internal to the server.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"

namespace slide::serve {

class ReplyText {
 public:
  ReplyText() = default;
  ReplyText(std::string_view text) { add(text); }    // NOLINT(google-explicit-constructor)
  ReplyText(const std::string& text) { add(text); }  // NOLINT(google-explicit-constructor)

  // Throws Error where memory runs out.
  void add(std::string_view text) {
    AlignedArray<char> piece(text.size());
    std::copy(text.begin(), text.end(), piece.begin());
    pieces_.push_back(std::move(piece));
    size_ += text.size();
  }
  std::size_t size() const { return size_; }
  const std::vector<AlignedArray<char>>& pieces() const { return pieces_; }
  std::string str() const {
    std::string text;
    text.reserve(size_);
    for (const AlignedArray<char>& piece : pieces_) text.append(piece.data(), piece.size());
    return text;
  }

 private:
  std::vector<AlignedArray<char>> pieces_;
  std::size_t size_ = 0;
};

// A ReplyText as the body of a response of Beast.
struct ReplyBody {
  using value_type = ReplyText;

  static std::uint64_t size(const value_type& body) { return body.size(); }

  class writer {
   public:
    using const_buffers_type = std::vector<boost::asio::const_buffer>;

    template <bool is_request, class Fields>
    writer(const boost::beast::http::header<is_request, Fields>&, const value_type& body) : body_(body) {}
    void init(boost::beast::error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(boost::beast::error_code& error) {
      error = {};
      const_buffers_type buffers;
      for (const AlignedArray<char>& piece : body_.pieces()) buffers.emplace_back(piece.data(), piece.size());
      return {{std::move(buffers), false}};
    }

   private:
    const value_type& body_;
  };
};

}  // namespace slide::serve
