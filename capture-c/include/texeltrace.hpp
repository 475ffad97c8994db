// C++ layer over texeltrace.h: handles that close themselves, texts and spans. Header only, C++17, throws nothing.
#ifndef TEXELTRACE_HPP
#define TEXELTRACE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "texeltrace.h"

namespace texeltrace {

/// What a call returned, with its message.
class [[nodiscard]] Status {
public:
    Status() = default;
    explicit Status(TexelTraceStatus code) : code_(code) {
        if (!ok()) message_ = texeltrace_message();
    }

    /// Done, or nothing was to be done because the dispatch is left out.
    bool ok() const { return code_ == TEXELTRACE_OK || code_ == TEXELTRACE_SKIPPED; }
    /// The dispatch is left out by the filter or a limit.
    bool skipped() const { return code_ == TEXELTRACE_SKIPPED; }
    /// One of the TEXELTRACE_* constants.
    TexelTraceStatus code() const { return code_; }
    /// What is wrong, and what was expected; empty when nothing is.
    const std::string &message() const { return message_; }

private:
    TexelTraceStatus code_ = TEXELTRACE_OK;
    std::string message_;
};

/// Bytes that somebody else owns.
struct Bytes {
    const void *data = nullptr;
    std::size_t size = 0;
};

inline Bytes bytes(const void *data, std::size_t size) { return {data, size}; }

template <typename T>
Bytes bytes(const std::vector<T> &content) {
    return {content.data(), content.size() * sizeof(T)};
}

/// How a recording is made; see TexelTraceOptions.
struct Options {
    std::string path, name, summary, device, profile, note;
    TexelTraceSource source = TEXELTRACE_SOURCE_MEASURED;
    bool wait_for_begin = false;
    std::size_t queue_bytes = 0, copy_bytes = 0;
    std::uint64_t max_file_bytes = 0, max_dispatches = 0;
    std::vector<std::uint64_t> shader_hashes;
};

/// A dispatch, but for its bindings; see TexelTraceDispatchInfo. The push constants are read before `add_dispatch` returns.
struct DispatchInfo {
    std::string name, entry;
    std::array<std::uint32_t, 3> groups{1, 1, 1};
    std::vector<TexelTraceConstant> constants;
    Bytes push_constants;
    std::vector<std::string> labels;
};

/// An image that is bound; see TexelTraceImage.
struct Image {
    TexelTracePlace place{};
    TexelTraceImageKind kind = TEXELTRACE_SAMPLED_IMAGE;
    std::uint32_t format = 0;
    TexelTraceView view = TEXELTRACE_VIEW_2D;
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    std::uint32_t layers = 1, levels = 1;
    bool output = false;
    const std::uint32_t *descriptor = nullptr, *sampler_descriptor = nullptr;
    Bytes texels;
};

/// A buffer that is bound; see TexelTraceBuffer. `size` counts when there is no `data`.
struct Buffer {
    TexelTracePlace place{};
    bool uniform = false, output = false;
    TexelTraceElement element = TEXELTRACE_ELEMENT_UINT;
    std::uint32_t channels = 1;
    std::array<std::uint32_t, 3> grid{};
    const std::uint32_t *descriptor = nullptr;
    Bytes data;
    std::size_t size = 0;
};

/// A dispatch that is being recorded. It is given up when it is destroyed before it has ended.
class Dispatch {
public:
    Dispatch() = default;
    Dispatch(Dispatch &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
    Dispatch &operator=(Dispatch &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Dispatch(const Dispatch &) = delete;
    Dispatch &operator=(const Dispatch &) = delete;
    ~Dispatch() {
        if (handle_ != 0) texeltrace_discard(handle_);
    }

    Status add(const Image &image) {
        TexelTraceImage given{};
        given.place = image.place;
        given.kind = image.kind;
        given.format = image.format;
        given.view = image.view;
        for (std::size_t i = 0; i < 3; i++) given.extent[i] = image.extent[i];
        given.layers = image.layers;
        given.levels = image.levels;
        given.output = image.output ? 1 : 0;
        given.descriptor = image.descriptor;
        given.sampler_descriptor = image.sampler_descriptor;
        given.texels = image.texels.data;
        given.texel_bytes = image.texels.size;
        return Status(texeltrace_add_image(handle_, &given));
    }

    Status add(const Buffer &buffer) {
        TexelTraceBuffer given{};
        given.place = buffer.place;
        given.uniform = buffer.uniform ? 1 : 0;
        given.output = buffer.output ? 1 : 0;
        given.element = buffer.element;
        given.channels = buffer.channels;
        for (std::size_t i = 0; i < 3; i++) given.grid[i] = buffer.grid[i];
        given.descriptor = buffer.descriptor;
        given.data = buffer.data.data;
        given.data_bytes = buffer.data.data == nullptr ? buffer.size : buffer.data.size;
        return Status(texeltrace_add_buffer(handle_, &given));
    }

    /// Adds a sampler; `descriptor` has the four words of the guest's S#, or is null.
    Status add_sampler(TexelTracePlace place, const std::uint32_t *descriptor) {
        return Status(texeltrace_add_sampler(handle_, place, descriptor));
    }

    /// The dispatch is about to run.
    Status begin() { return Status(texeltrace_begin(handle_)); }

    /// What an output holds after the dispatch.
    Status output(TexelTracePlace place, Bytes content) {
        return Status(texeltrace_output(handle_, place, content.data, content.size));
    }

    /// The dispatch has ended.
    Status end() {
        Status status(texeltrace_end(handle_));
        if (status.code() != TEXELTRACE_BAD_ORDER) handle_ = 0;
        return status;
    }

    /// 0 when it is left out or over.
    TexelTraceDispatch handle() const { return handle_; }

private:
    friend class Shader;
    TexelTraceDispatch handle_ = 0;
};

/// A shader of a recording. It is valid as long as the recording, and may be copied.
class Shader {
public:
    /// Whether dispatches of it are recorded now.
    bool wanted() const { return texeltrace_wants(handle_) == TEXELTRACE_OK; }

    Status add_dispatch(const DispatchInfo &info, Dispatch &dispatch) const {
        std::vector<const char *> labels;
        for (const std::string &label : info.labels) labels.push_back(label.c_str());
        TexelTraceDispatchInfo given{};
        given.name = info.name.c_str();
        given.entry = info.entry.c_str();
        for (std::size_t i = 0; i < 3; i++) given.groups[i] = info.groups[i];
        given.constants = info.constants.data();
        given.constant_count = info.constants.size();
        given.push_constants = info.push_constants.data;
        given.push_constant_bytes = info.push_constants.size;
        given.labels = labels.data();
        given.label_count = labels.size();
        Dispatch started;
        Status status(texeltrace_add_dispatch(handle_, &given, &started.handle_));
        dispatch = std::move(started);
        return status;
    }

private:
    friend class Recorder;
    TexelTraceShader handle_ = 0;
};

/// A recording. It is closed when it is destroyed; `close` tells whether that went well.
class Recorder {
public:
    Recorder() = default;
    Recorder(Recorder &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
    Recorder &operator=(Recorder &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;
    ~Recorder() {
        if (handle_ != 0) texeltrace_close(handle_);
    }

    /// Starts a recording. One that was open here is closed first.
    Status open(const Options &options) {
        if (handle_ != 0) {
            Status closed = close();
            if (!closed.ok()) return closed;
        }
        TexelTraceOptions given{};
        given.path = options.path.c_str();
        given.name = options.name.c_str();
        given.summary = options.summary.c_str();
        given.device = options.device.c_str();
        given.profile = options.profile.c_str();
        given.note = options.note.c_str();
        given.source = options.source;
        given.wait_for_begin = options.wait_for_begin ? 1 : 0;
        given.queue_bytes = options.queue_bytes;
        given.copy_bytes = options.copy_bytes;
        given.max_file_bytes = options.max_file_bytes;
        given.max_dispatches = options.max_dispatches;
        given.shader_hashes = options.shader_hashes.data();
        given.shader_hash_count = options.shader_hashes.size();
        return Status(texeltrace_open(&given, &handle_));
    }

    /// Takes a shader: once for each pipeline.
    Status add_shader(const void *spirv, std::size_t spirv_bytes, std::uint64_t guest_hash, Shader &shader,
                      Bytes isa = {}) {
        TexelTraceShaderInfo info{};
        info.spirv = spirv;
        info.spirv_bytes = spirv_bytes;
        info.isa = isa.data;
        info.isa_bytes = isa.size;
        info.guest_hash = guest_hash;
        info.has_guest_hash = 1;
        return Status(texeltrace_add_shader(handle_, &info, &shader.handle_));
    }

    /// Waits until the system has all that was recorded so far.
    Status flush() { return Status(texeltrace_flush(handle_)); }

    /// Writes all that waits and closes the file.
    Status close() { return Status(texeltrace_close(std::exchange(handle_, 0))); }

private:
    TexelTraceRecorder handle_ = 0;
};

}  // namespace texeltrace

#endif
