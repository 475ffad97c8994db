// Records Vulkan dispatches of a compute shader (filter43.spvasm) that filters an R32_UINT image as FORMAT 43.
//
// usage: record_vulkan filter43.spv OUT.texeltrace [--outputs gpu|cpu] [--weights nearest|down] [--dispatches N]
//
// --outputs cpu records what the CPU computes by the right rule instead of what the GPU gave, as from an oracle.
// --weights down runs the shader with weights that are rounded down, which is the wrong rule.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "texeltrace.hpp"

namespace {

constexpr uint32_t kImageWidth = 37, kImageHeight = 23;
constexpr uint32_t kWidth = 100, kHeight = 60;
constexpr uint32_t kNearest = 0, kDown = 1;

struct Push {
    uint32_t width, height;
    float step;
};

void check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
}

void check(texeltrace::Status status, const char *what) {
    if (!status.ok()) throw std::runtime_error(std::string(what) + ": " + status.message());
}

template <typename Info>
Info of(VkStructureType type) {
    Info info{};
    info.sType = type;
    return info;
}

std::vector<uint32_t> read_spirv(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    if (!file || bytes.empty() || bytes.size() % 4 != 0) throw std::runtime_error(std::string(path) + ": no SPIR-V");
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

// The CPU's side: the same filter by the right rule. Compile with -ffp-contract=off.

float small_float(uint32_t code, uint32_t bits) {
    uint32_t mantissa = code & ((1u << bits) - 1u), exponent = code >> bits;
    if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), -14 - static_cast<int>(bits));
    uint32_t word = (exponent == 31 ? 255u : exponent + 112u) << 23 | mantissa << (23 - bits);
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

struct Texel {
    float channel[4];
};

Texel texel(const std::vector<uint32_t> &texels, int x, int y) {
    x = std::min(std::max(x, 0), static_cast<int>(kImageWidth) - 1);
    y = std::min(std::max(y, 0), static_cast<int>(kImageHeight) - 1);
    uint32_t word = texels[static_cast<size_t>(y) * kImageWidth + static_cast<size_t>(x)];
    return {{small_float(word & 0x3ff, 5), small_float(word >> 10 & 0x7ff, 6), small_float(word >> 21, 6), 1.0f}};
}

void filter(const std::vector<uint32_t> &texels, const Push &push, std::vector<float> &filtered,
            std::vector<uint32_t> &nearest) {
    for (uint32_t y = 0; y < push.height; y++) {
        for (uint32_t x = 0; x < push.width; x++) {
            float at[2] = {static_cast<float>(x) * push.step, static_cast<float>(y) * push.step};
            int corner[2];
            float weight[2], rest[2];
            for (int axis = 0; axis < 2; axis++) {
                float low = std::floor(at[axis]);
                corner[axis] = static_cast<int>(low);
                // To the nearest 1/256, ties to even: the rounding mode that programs start with.
                weight[axis] = std::nearbyint((at[axis] - low) * 256.0f) * 0.00390625f;
                rest[axis] = 1.0f - weight[axis];
            }
            Texel taps[4] = {texel(texels, corner[0], corner[1]), texel(texels, corner[0] + 1, corner[1]),
                             texel(texels, corner[0], corner[1] + 1), texel(texels, corner[0] + 1, corner[1] + 1)};
            size_t sample = static_cast<size_t>(y) * push.width + x;
            for (int c = 0; c < 4; c++) {
                float upper = taps[0].channel[c] * rest[0] + taps[1].channel[c] * weight[0];
                float lower = taps[2].channel[c] * rest[0] + taps[3].channel[c] * weight[0];
                filtered[sample * 4 + static_cast<size_t>(c)] = upper * rest[1] + lower * weight[1];
            }
            uint32_t nx = std::min(static_cast<uint32_t>(corner[0]), kImageWidth - 1);
            uint32_t ny = std::min(static_cast<uint32_t>(corner[1]), kImageHeight - 1);
            nearest[sample] = texels[ny * kImageWidth + nx];
        }
    }
}

// The GPU's side. An emulator has all of this already; the process ends behind it, so that nothing is destroyed one by one.
class Gpu {
public:
    Gpu() {
        auto application = of<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
        application.apiVersion = VK_API_VERSION_1_1;
        auto instance_info = of<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
        instance_info.pApplicationInfo = &application;
        VkInstance instance;
        check(vkCreateInstance(&instance_info, nullptr, &instance), "vkCreateInstance");
        uint32_t count = 1;
        VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical_);
        if (result != VK_INCOMPLETE) check(result, "vkEnumeratePhysicalDevices");
        if (count == 0) throw std::runtime_error("there is no Vulkan device");
        vkGetPhysicalDeviceProperties(physical_, &properties_);
        vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
        std::vector<VkQueueFamilyProperties> families;
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
        families.resize(count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
        uint32_t family = 0;
        while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) family++;
        float priority = 1.0f;
        auto queue_info = of<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        queue_info.queueFamilyIndex = family;
        queue_info.queueCount = 1;
        queue_info.pQueuePriorities = &priority;
        auto device_info = of<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
        device_info.queueCreateInfoCount = 1;
        device_info.pQueueCreateInfos = &queue_info;
        check(vkCreateDevice(physical_, &device_info, nullptr, &device_), "vkCreateDevice");
        vkGetDeviceQueue(device_, family, 0, &queue_);
        auto pool_info = of<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        pool_info.queueFamilyIndex = family;
        VkCommandPool pool;
        check(vkCreateCommandPool(device_, &pool_info, nullptr, &pool), "vkCreateCommandPool");
        auto command_info = of<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        command_info.commandPool = pool;
        command_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        command_info.commandBufferCount = 1;
        check(vkAllocateCommandBuffers(device_, &command_info, &commands_), "vkAllocateCommandBuffers");
    }

    const char *name() const { return properties_.deviceName; }

    void prepare(const std::vector<uint32_t> &spirv, uint32_t rounding) {
        auto module_info = of<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        module_info.codeSize = spirv.size() * 4;
        module_info.pCode = spirv.data();
        VkShaderModule module;
        check(vkCreateShaderModule(device_, &module_info, nullptr, &module), "vkCreateShaderModule");
        VkDescriptorSetLayoutBinding bindings[3] = {};
        const VkDescriptorType types[3] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
        VkDescriptorPoolSize sizes[3] = {};
        for (uint32_t i = 0; i < 3; i++) {
            bindings[i].binding = i;
            bindings[i].descriptorType = types[i];
            bindings[i].descriptorCount = 1;
            bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
            sizes[i].type = types[i];
            sizes[i].descriptorCount = 1;
        }
        auto set_info = of<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set_info.bindingCount = 3;
        set_info.pBindings = bindings;
        VkDescriptorSetLayout set_layout;
        check(vkCreateDescriptorSetLayout(device_, &set_info, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
        VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
        auto layout_info = of<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        layout_info.setLayoutCount = 1;
        layout_info.pSetLayouts = &set_layout;
        layout_info.pushConstantRangeCount = 1;
        layout_info.pPushConstantRanges = &range;
        check(vkCreatePipelineLayout(device_, &layout_info, nullptr, &layout_), "vkCreatePipelineLayout");
        VkSpecializationMapEntry entry{0, 0, sizeof rounding};
        VkSpecializationInfo specialization{1, &entry, sizeof rounding, &rounding};
        auto pipeline_info = of<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        pipeline_info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        pipeline_info.stage.module = module;
        pipeline_info.stage.pName = "main";
        pipeline_info.stage.pSpecializationInfo = &specialization;
        pipeline_info.layout = layout_;
        check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline_),
              "vkCreateComputePipelines");
        auto pool_info = of<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        pool_info.maxSets = 1;
        pool_info.poolSizeCount = 3;
        pool_info.pPoolSizes = sizes;
        VkDescriptorPool pool;
        check(vkCreateDescriptorPool(device_, &pool_info, nullptr, &pool), "vkCreateDescriptorPool");
        auto allocate_info = of<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        allocate_info.descriptorPool = pool;
        allocate_info.descriptorSetCount = 1;
        allocate_info.pSetLayouts = &set_layout;
        check(vkAllocateDescriptorSets(device_, &allocate_info, &set_), "vkAllocateDescriptorSets");

        const size_t texel_bytes = size_t{4} * kImageWidth * kImageHeight;
        upload_ = buffer(texel_bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        filtered_ = buffer(size_t{16} * kWidth * kHeight, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        nearest_read_ = buffer(size_t{4} * kWidth * kHeight, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
        VkImageView views[2];
        source_ = image(kImageWidth, kImageHeight, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, views[0]);
        nearest_ = image(kWidth, kHeight, VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, views[1]);
        VkDescriptorImageInfo images[2] = {};
        images[0].imageView = views[0];
        images[0].imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        images[1].imageView = views[1];
        images[1].imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        VkDescriptorBufferInfo filtered{filtered_.handle, 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet writes[3] = {};
        for (uint32_t i = 0; i < 3; i++) {
            writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
            writes[i].dstSet = set_;
            writes[i].dstBinding = i;
            writes[i].descriptorCount = 1;
            writes[i].descriptorType = types[i];
        }
        writes[0].pImageInfo = &images[0];
        writes[1].pBufferInfo = &filtered;
        writes[2].pImageInfo = &images[1];
        vkUpdateDescriptorSets(device_, 3, writes, 0, nullptr);
    }

    void run(const std::vector<uint32_t> &texels, const Push &push, std::vector<float> &filtered,
             std::vector<uint32_t> &nearest) {
        std::memcpy(upload_.mapped, texels.data(), texels.size() * 4);
        auto begin = of<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
        barrier(source_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {kImageWidth, kImageHeight, 1};
        vkCmdCopyBufferToImage(commands_, upload_.handle, source_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
        barrier(source_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
        barrier(nearest_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
        vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
        vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
        vkCmdDispatch(commands_, (push.width + 7) / 8, (push.height + 7) / 8, 1);
        barrier(nearest_, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        copy.imageExtent = {kWidth, kHeight, 1};
        vkCmdCopyImageToBuffer(commands_, nearest_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, nearest_read_.handle, 1, &copy);
        auto host = of<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
        host.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &host, 0, nullptr, 0, nullptr);
        check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
        auto submit = of<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands_;
        check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
        check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
        std::memcpy(filtered.data(), filtered_.mapped, filtered.size() * 4);
        std::memcpy(nearest.data(), nearest_read_.mapped, nearest.size() * 4);
    }

private:
    struct Buffer {
        VkBuffer handle = VK_NULL_HANDLE;
        void *mapped = nullptr;
    };

    VkDeviceMemory allocate(const VkMemoryRequirements &needs, VkMemoryPropertyFlags wanted) {
        auto info = of<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
        info.allocationSize = needs.size;
        uint32_t type = 0;
        while (type < memory_.memoryTypeCount && (!(needs.memoryTypeBits >> type & 1) ||
                                                  (memory_.memoryTypes[type].propertyFlags & wanted) != wanted)) {
            type++;
        }
        info.memoryTypeIndex = type;
        VkDeviceMemory memory;
        check(vkAllocateMemory(device_, &info, nullptr, &memory), "vkAllocateMemory");
        return memory;
    }

    Buffer buffer(size_t bytes, VkBufferUsageFlags usage) {
        auto info = of<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = bytes;
        info.usage = usage;
        Buffer buffer;
        check(vkCreateBuffer(device_, &info, nullptr, &buffer.handle), "vkCreateBuffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device_, buffer.handle, &needs);
        VkDeviceMemory memory =
            allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        check(vkBindBufferMemory(device_, buffer.handle, memory, 0), "vkBindBufferMemory");
        check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &buffer.mapped), "vkMapMemory");
        return buffer;
    }

    VkImage image(uint32_t width, uint32_t height, VkImageUsageFlags usage, VkImageView &view) {
        auto info = of<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = VK_FORMAT_R32_UINT;
        info.extent = {width, height, 1};
        info.mipLevels = info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = usage;
        VkImage image;
        check(vkCreateImage(device_, &info, nullptr, &image), "vkCreateImage");
        VkMemoryRequirements needs;
        vkGetImageMemoryRequirements(device_, image, &needs);
        check(vkBindImageMemory(device_, image, allocate(needs, 0), 0), "vkBindImageMemory");
        auto view_info = of<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
        view_info.image = image;
        view_info.viewType = VK_IMAGE_VIEW_TYPE_2D;
        view_info.format = VK_FORMAT_R32_UINT;
        view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        check(vkCreateImageView(device_, &view_info, nullptr, &view), "vkCreateImageView");
        return image;
    }

    void barrier(VkImage image, VkImageLayout from, VkImageLayout to) {
        auto barrier = of<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                             nullptr, 0, nullptr, 1, &barrier);
    }

    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_{};
    VkPhysicalDeviceMemoryProperties memory_{};
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    Buffer upload_, filtered_, nearest_read_;
    VkImage source_ = VK_NULL_HANDLE, nearest_ = VK_NULL_HANDLE;
};

// A T# of FORMAT 43, TYPE 2D, DST_SEL X Y Z 1.
std::vector<uint32_t> descriptor(uint32_t width, uint32_t height) {
    return {0, 43u << 20 | ((width - 1) & 3) << 30, (width - 1) >> 2 | (height - 1) << 14, 0x900003ac, 0, 0, 0, 0};
}

int record(int argc, char **argv) {
    bool from_cpu = false;
    uint32_t rounding = kNearest;
    int dispatches = 2;
    for (int i = 3; i + 1 < argc; i += 2) {
        std::string option = argv[i], value = argv[i + 1];
        if (option == "--outputs") from_cpu = value == "cpu";
        if (option == "--weights") rounding = value == "down" ? kDown : kNearest;
        if (option == "--dispatches") dispatches = std::atoi(value.c_str());
    }
    std::vector<uint32_t> spirv = read_spirv(argv[1]);
    Gpu gpu;
    gpu.prepare(spirv, rounding);

    texeltrace::Options options;
    options.path = argv[2];
    options.name = "vulkan-example";
    options.profile = "gfx1035";
    options.device = from_cpu ? "the CPU" : gpu.name();
    options.source = from_cpu ? TEXELTRACE_SOURCE_SYNTHETIC : TEXELTRACE_SOURCE_MEASURED;
    texeltrace::Recorder recorder;
    check(recorder.open(options), "open");
    texeltrace::Shader shader;
    check(recorder.add_shader(spirv.data(), spirv.size() * 4, 0x43f1, shader), "add_shader");

    std::vector<uint32_t> texels(size_t{kImageWidth} * kImageHeight), nearest(size_t{kWidth} * kHeight);
    std::vector<float> filtered(size_t{4} * kWidth * kHeight);
    uint32_t state = 7;
    for (int number = 0; number < dispatches; number++) {
        for (uint32_t &word : texels) {
            state = state * 1664525u + 1013904223u;
            // No infinities and NaNs: their products are of no interest here.
            word = state & ~(1u << 9 | 1u << 20 | 1u << 31);
        }
        Push push{kWidth, kHeight, number % 2 == 0 ? 0.3701f : 0.25f};

        texeltrace::DispatchInfo info;
        info.name = "filter";
        info.groups = {(kWidth + 7) / 8, (kHeight + 7) / 8, 1};
        info.constants.push_back({0, 4, rounding});
        info.push_constants = texeltrace::bytes(&push, sizeof push);
        info.labels = {"frame " + std::to_string(number)};
        texeltrace::Dispatch dispatch;
        check(shader.add_dispatch(info, dispatch), "add_dispatch");
        std::vector<uint32_t> source_words = descriptor(kImageWidth, kImageHeight);
        std::vector<uint32_t> nearest_words = descriptor(kWidth, kHeight);
        texeltrace::Image source;
        source.format = VK_FORMAT_R32_UINT;
        source.extent = {kImageWidth, kImageHeight, 1};
        source.descriptor = source_words.data();
        // CLAMP_X and CLAMP_Y to the edge, XY filters linear.
        const uint32_t sampler_words[4] = {2 | 2 << 3, 0, 1 << 20 | 1 << 22, 0};
        source.sampler_descriptor = sampler_words;
        source.texels = texeltrace::bytes(texels);
        check(dispatch.add(source), "add the source");
        texeltrace::Buffer samples;
        samples.place.binding = 1;
        samples.output = true;
        samples.element = TEXELTRACE_ELEMENT_FLOAT;
        samples.channels = 4;
        samples.grid = {kWidth, kHeight, 1};
        samples.size = filtered.size() * 4;
        check(dispatch.add(samples), "add the samples");
        texeltrace::Image stored;
        stored.place.binding = 2;
        stored.kind = TEXELTRACE_STORAGE_IMAGE;
        stored.format = VK_FORMAT_R32_UINT;
        stored.extent = {kWidth, kHeight, 1};
        stored.output = true;
        stored.descriptor = nearest_words.data();
        check(dispatch.add(stored), "add the stored image");

        check(dispatch.begin(), "begin");
        gpu.run(texels, push, filtered, nearest);
        if (from_cpu) filter(texels, push, filtered, nearest);
        check(dispatch.output(samples.place, texeltrace::bytes(filtered)), "output the samples");
        check(dispatch.output(stored.place, texeltrace::bytes(nearest)), "output the stored image");
        check(dispatch.end(), "end");
    }
    check(recorder.close(), "close");
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 3 || argc % 2 == 0) {
        std::cerr << "usage: " << argv[0]
                  << " filter43.spv OUT.texeltrace [--outputs gpu|cpu] [--weights nearest|down] [--dispatches N]\n";
        return 64;
    }
    try {
        return record(argc, argv);
    } catch (const std::exception &error) {
        std::cerr << argv[0] << ": " << error.what() << "\n";
        return 1;
    }
}
