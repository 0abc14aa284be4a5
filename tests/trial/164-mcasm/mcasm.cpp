// mcasm - assemble functions placed in separate sections; short branches
// are widened until every displacement fits, then bytes are emitted.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

enum class FragKind : uint8_t { Data, Branch, Fill };

struct Section;

struct Fragment {
    FragKind kind;
    bool wide = false;
    uint32_t size = 0;
    uint32_t offset = 0;
    int target = -1;
    std::vector<uint8_t> bytes;
};

struct Label {
    Section* section = nullptr;
    size_t fragment = 0;
};

struct Section {
    std::string name;
    std::vector<Fragment> fragments;
    uint32_t size = 0;
    uint32_t address = 0;
    bool laidOut = false;
};

class Assembler {
public:
    Section& createSection(const std::string& name);
    int createLabel();
    void bindLabel(int label, Section& s);
    void emitData(Section& s, const uint8_t* p, size_t n);
    void emitBranch(Section& s, int label);
    void emitFill(Section& s, uint32_t n);
    void finish();
    void write(std::vector<uint8_t>& out);
    unsigned relaxed() const { return relaxed_; }
    size_t sectionCount() const { return sections_.size(); }

private:
    void layoutSection(Section& s);
    void ensureLayout();
    void invalidate(Section& s);
    bool needsWide(const Section& s, const Fragment& f) const;
    bool relaxSection(Section& s);
    int64_t displacement(const Section& s, const Fragment& f) const;

    std::vector<std::unique_ptr<Section>> sections_;
    std::vector<Label> labels_;
    std::vector<Section*> dirty_;
    unsigned relaxed_ = 0;
};

Section& Assembler::createSection(const std::string& name)
{
    sections_.push_back(std::make_unique<Section>());
    sections_.back()->name = name;
    dirty_.push_back(sections_.back().get());
    return *sections_.back();
}

int Assembler::createLabel()
{
    labels_.emplace_back();
    return static_cast<int>(labels_.size()) - 1;
}

void Assembler::bindLabel(int label, Section& s)
{
    labels_[label].section = &s;
    labels_[label].fragment = s.fragments.size();
    emitFill(s, 0);
}

void Assembler::emitData(Section& s, const uint8_t* p, size_t n)
{
    Fragment f{FragKind::Data};
    f.bytes.assign(p, p + n);
    f.size = static_cast<uint32_t>(n);
    s.fragments.push_back(std::move(f));
}

void Assembler::emitBranch(Section& s, int label)
{
    Fragment f{FragKind::Branch};
    f.size = 2;
    f.target = label;
    s.fragments.push_back(std::move(f));
}

void Assembler::emitFill(Section& s, uint32_t n)
{
    Fragment f{FragKind::Fill};
    f.size = n;
    s.fragments.push_back(std::move(f));
}

void Assembler::layoutSection(Section& s)
{
    uint32_t at = 0;
    for (Fragment& f : s.fragments) {
        f.offset = at;
        at += f.size;
    }
    s.size = at;
    s.laidOut = true;
}

void Assembler::ensureLayout()
{
    for (Section* s : dirty_)
        if (!s->laidOut)
            layoutSection(*s);
    dirty_.clear();
}

void Assembler::invalidate(Section& s)
{
    s.laidOut = false;
    dirty_.clear();
    for (auto& each : sections_) {
        each->laidOut = false;
        dirty_.push_back(each.get());
    }
}

int64_t Assembler::displacement(const Section& s, const Fragment& f) const
{
    const Label& l = labels_[f.target];
    return static_cast<int64_t>(l.section->fragments[l.fragment].offset) -
           static_cast<int64_t>(f.offset + f.size);
}

bool Assembler::needsWide(const Section& s, const Fragment& f) const
{
    if (f.kind != FragKind::Branch || f.wide)
        return false;
    int64_t d = displacement(s, f);
    return d < -128 || d > 127;
}

bool Assembler::relaxSection(Section& s)
{
    for (Fragment& f : s.fragments) {
        if (needsWide(s, f)) {
            f.wide = true;
            f.size = 5;
            ++relaxed_;
            invalidate(s);
            return true;
        }
    }
    return false;
}

void Assembler::finish()
{
    ensureLayout();
    for (auto& s : sections_)
        while (relaxSection(*s))
            ensureLayout();
    uint32_t address = 0x1000;
    for (auto& s : sections_) {
        s->address = address;
        address = (address + s->size + 15) & ~15u;
    }
}

void Assembler::write(std::vector<uint8_t>& out)
{
    for (auto& s : sections_) {
        out.resize(s->address - 0x1000, 0xcc);
        for (const Fragment& f : s->fragments) {
            if (f.kind == FragKind::Data) {
                out.insert(out.end(), f.bytes.begin(), f.bytes.end());
            } else if (f.kind == FragKind::Fill) {
                out.insert(out.end(), f.size, 0x90);
            } else {
                uint32_t d = static_cast<uint32_t>(displacement(*s, f));
                out.push_back(f.wide ? 0xe9 : 0xeb);
                for (int i = 0; i < (f.wide ? 4 : 1); ++i)
                    out.push_back(static_cast<uint8_t>(d >> (8 * i)));
            }
        }
    }
}

class Lcg {
public:
    uint32_t operator()(uint32_t n) { return (state_ = state_ * 1664525u + 1013904223u, (state_ >> 10) % n); }
private:
    uint32_t state_ = 777;
};

static void emitFunction(Assembler& as, Lcg& rnd, int index)
{
    Section& s = as.createSection(".text.fn" + std::to_string(index));
    int blocks = 6 + static_cast<int>(rnd(10));
    std::vector<int> labels;
    for (int b = 0; b <= blocks; ++b)
        labels.push_back(as.createLabel());
    for (int b = 0; b < blocks; ++b) {
        uint8_t code[64];
        size_t n = 12 + rnd(40);
        for (size_t i = 0; i < n; ++i)
            code[i] = static_cast<uint8_t>(rnd(256));
        as.bindLabel(labels[b], s);
        as.emitData(s, code, n);
        as.emitBranch(s, labels[rnd(blocks + 1)]);
    }
    as.bindLabel(labels[blocks], s);
    as.emitData(s, reinterpret_cast<const uint8_t*>("\xc3"), 1);
}

int main(int argc, char** argv)
{
    int functions = argc > 1 ? atoi(argv[1]) : 2700;
    Assembler as;
    Lcg rnd;
    for (int i = 0; i < functions; ++i)
        emitFunction(as, rnd, i);
    as.finish();

    std::vector<uint8_t> image;
    as.write(image);
    uint64_t h = 14695981039346656037ull;
    for (uint8_t b : image)
        h = (h ^ b) * 1099511628211ull;
    printf("%zu sections, %u branches widened, %zu bytes, digest %016llx\n", as.sectionCount(),
           as.relaxed(), image.size(), static_cast<unsigned long long>(h));
    return 0;
}
