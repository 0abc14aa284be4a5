// boxlayout: lays out screens of nested rows and columns, whose boxes grow, shrink and stretch, and prints where things end up.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// Lengths are in 1/64 of a pixel. This one leaves the length to the content.
constexpr int kAuto = -1;
constexpr int kUnit = 64;
constexpr int kLineHeight = 18 * kUnit;

struct Size {
    int width = 0;
    int height = 0;
};

static int char_width(char c)
{
    switch (c) {
    case 'i': case 'l': case 'j': case 't': case 'f': case ' ':
        return 4 * kUnit + 20;
    case 'm': case 'w':
        return 11 * kUnit + 12;
    default:
        return 7 * kUnit + 40;
    }
}

class Box {
public:
    virtual ~Box() = default;

    // Lays out what is in the box for a width and a height, either of which may be kAuto, and returns the size that it takes.
    Size layout(int width, int height)
    {
        if (!known_ || width != for_width_ || height != for_height_) {
            arrange(width, height);
            known_ = true;
            for_width_ = width;
            for_height_ = height;
        }
        return size_;
    }

    // The size that it would take. What is in the box may be left laid out for another.
    Size measure(int width, int height)
    {
        for (const Measured& one : measured_)
            if (one.width == width && one.height == height)
                return one.size;
        measured_.push_back({width, height, layout(width, height)});
        return measured_.back().size;
    }

    virtual void report(int x, int y, uint64_t& sum, size_t& boxes) const
    {
        boxes++;
        for (int v : {x + x_, y + y_, size_.width, size_.height})
            sum = (sum ^ static_cast<uint32_t>(v)) * 1099511628211u;
    }

    void place(int x, int y) { x_ = x, y_ = y; }
    int grow() const { return grow_; }

protected:
    virtual Size arrange(int width, int height) = 0;

    int x_ = 0, y_ = 0, grow_ = 0;
    Size size_;

private:
    struct Measured {
        int width, height;
        Size size;
    };

    bool known_ = false;
    int for_width_ = 0, for_height_ = 0;
    std::vector<Measured> measured_;
};

class Text : public Box {
public:
    explicit Text(std::string text) : text_(std::move(text)) {}

    Size arrange(int width, int height) override
    {
        int line = 0, widest = 0, lines = 1, word = 0;
        for (size_t i = 0; i <= text_.size(); i++) {
            if (i < text_.size() && text_[i] != ' ') {
                word += char_width(text_[i]);
                continue;
            }
            int space = line ? char_width(' ') : 0;
            if (width != kAuto && line && line + space + word > width) {
                lines++;
                line = word;
            } else {
                line += space + word;
            }
            widest = std::max(widest, line);
            word = 0;
        }
        size_ = {width == kAuto ? widest : std::max(width, 0), std::max(height, lines * kLineHeight)};
        return size_;
    }

private:
    std::string text_;
};

class Container : public Box {
public:
    Container(int pad, int gap, int grow) : pad_(pad * kUnit), gap_(gap * kUnit) { grow_ = grow; }

    void add(std::unique_ptr<Box> child) { children_.push_back(std::move(child)); }

    void report(int x, int y, uint64_t& sum, size_t& boxes) const override
    {
        Box::report(x, y, sum, boxes);
        for (const auto& child : children_)
            child->report(x + x_, y + y_, sum, boxes);
    }

protected:
    // Shares out what is left (or missing, if negative) among lengths.
    void flex(std::vector<int>& lengths, int left) const
    {
        int64_t grow = 0, total = 0;
        for (size_t i = 0; i < lengths.size(); i++) {
            grow += children_[i]->grow();
            total += lengths[i];
        }
        for (size_t i = 0; i < lengths.size(); i++) {
            if (left > 0 && grow)
                lengths[i] += static_cast<int>(int64_t{left} * children_[i]->grow() / grow);
            else if (left < 0 && total)
                lengths[i] += static_cast<int>(int64_t{left} * lengths[i] / total);
        }
    }

    int gaps() const { return children_.empty() ? 0 : gap_ * static_cast<int>(children_.size() - 1); }

    int pad_, gap_;
    std::vector<std::unique_ptr<Box>> children_;
};

class Row : public Container {
public:
    using Container::Container;

    Size arrange(int width, int height) override
    {
        std::vector<int> widths;
        int used = gaps() + 2 * pad_;
        for (const auto& child : children_) {
            widths.push_back(child->measure(kAuto, kAuto).width);
            used += widths.back();
        }
        if (width != kAuto)
            flex(widths, width - used);
        int tallest = height == kAuto ? 0 : height - 2 * pad_;
        for (size_t i = 0; i < children_.size(); i++)
            tallest = std::max(tallest, children_[i]->measure(widths[i], kAuto).height);
        int x = pad_;
        for (size_t i = 0; i < children_.size(); i++) {
            children_[i]->layout(widths[i], tallest);
            children_[i]->place(x, pad_);
            x += widths[i] + gap_;
        }
        size_ = {width == kAuto ? used : width, tallest + 2 * pad_};
        return size_;
    }
};

class Column : public Container {
public:
    using Container::Container;

    Size arrange(int width, int height) override
    {
        int inner = width - 2 * pad_;
        if (width == kAuto) {
            inner = 0;
            for (const auto& child : children_)
                inner = std::max(inner, child->measure(kAuto, kAuto).width);
        }
        std::vector<int> heights;
        int used = gaps() + 2 * pad_;
        for (const auto& child : children_) {
            heights.push_back(child->measure(inner, kAuto).height);
            used += heights.back();
        }
        if (height > used)
            flex(heights, height - used);
        int y = pad_;
        for (size_t i = 0; i < children_.size(); i++) {
            children_[i]->layout(inner, heights[i]);
            children_[i]->place(pad_, y);
            y += heights[i] + gap_;
        }
        size_ = {inner + 2 * pad_, std::max(height, used)};
        return size_;
    }
};

struct Screen {
    std::string name;
    int width = 0;
    std::unique_ptr<Box> root;
};

static std::vector<Screen> read_screens(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    std::vector<Screen> screens;
    std::vector<Container*> open;
    for (std::string line; std::getline(file, line);) {
        size_t depth = line.find_first_not_of(' ');
        if (depth == std::string::npos)
            continue;
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "screen") {
            Screen screen;
            in >> screen.width >> screen.name;
            screens.push_back(std::move(screen));
            open.clear();
            continue;
        }
        std::unique_ptr<Box> box;
        Container* container = nullptr;
        if (word == "text") {
            box = std::make_unique<Text>(line.substr(std::min(line.size(), depth + 5)));
        } else {
            int values[3] = {};
            for (int& value : values) {
                std::string setting;
                in >> setting;
                value = std::stoi(setting.substr(setting.find('=') + 1));
            }
            if (word == "row")
                container = new Row(values[0], values[1], values[2]);
            else
                container = new Column(values[0], values[1], values[2]);
            box.reset(container);
        }
        open.resize(depth - 1);
        Box* added = box.get();
        if (depth == 1)
            screens.back().root = std::move(box);
        else
            open.back()->add(std::move(box));
        if (container)
            open.push_back(static_cast<Container*>(added));
    }
    return screens;
}

int main(int argc, char** argv)
{
    try {
        for (const Screen& screen : read_screens(argc > 1 ? argv[1] : "data/screens.txt")) {
            Size size = screen.root->layout(screen.width * kUnit, kAuto);
            uint64_t sum = 14695981039346656037u;
            size_t boxes = 0;
            screen.root->report(0, 0, sum, boxes);
            std::printf("%-4s %4d x %4d, %3zu boxes, checksum %016llx\n", screen.name.c_str(), size.width / kUnit, size.height / kUnit, boxes,
                        static_cast<unsigned long long>(sum));
        }
    } catch (const std::exception& e) {
        std::cerr << "boxlayout: " << e.what() << "\n";
        return 1;
    }
}
