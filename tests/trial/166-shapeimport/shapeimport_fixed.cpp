// shapeimport - turn a stream of drawing shape records into styled shapes.
// Attributes come from property sets with an optional parent style.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

struct Value {
    enum Type { Int, Real, Text } type = Int;
    long i = 0;
    double d = 0;
    std::string s;
};

class UnknownPropertyException : public std::runtime_error {
public:
    UnknownPropertyException(const std::string& owner, const std::string& name)
        : std::runtime_error("no property '" + name + "' in " + owner) {}
};

class PropertySet {
public:
    PropertySet(std::string owner, std::shared_ptr<PropertySet> parent)
        : owner_(std::move(owner)), parent_(std::move(parent)) {}

    void setProperty(const std::string& name, Value v) { values_[name] = std::move(v); }
    const Value& getProperty(const std::string& name) const;
    const Value* findProperty(const std::string& name) const
    {
        auto it = values_.find(name);
        if (it != values_.end())
            return &it->second;
        return parent_ ? parent_->findProperty(name) : nullptr;
    }
    size_t size() const { return values_.size(); }

private:
    std::string owner_;
    std::shared_ptr<PropertySet> parent_;
    std::unordered_map<std::string, Value> values_;
};

const Value& PropertySet::getProperty(const std::string& name) const
{
    if (const Value* v = findProperty(name))
        return *v;
    throw UnknownPropertyException(owner_, name);
}

struct Shape {
    std::string kind, label, font;
    long x = 0, y = 0, w = 0, h = 0;
    long fill = 0, line = 0, lineWidth = 1, shadow = 0, rotation = 0, transparency = 0;
    double scale = 1.0, charHeight = 12.0;
};

static long optionalInt(const PropertySet& set, const std::string& name, long fallback)
{
    const Value* v = set.findProperty(name);
    if (!v)
        return fallback;
    return v->type == Value::Real ? static_cast<long>(v->d) : v->i;
}

static double optionalReal(const PropertySet& set, const std::string& name, double fallback)
{
    const Value* v = set.findProperty(name);
    if (!v)
        return fallback;
    return v->type == Value::Int ? static_cast<double>(v->i) : v->d;
}

static std::string optionalText(const PropertySet& set, const std::string& name, const std::string& fallback)
{
    const Value* v = set.findProperty(name);
    return v ? v->s : fallback;
}

class Importer {
public:
    void addStyle(const std::string& name, std::shared_ptr<PropertySet> style) { styles_[name] = style; }
    std::shared_ptr<PropertySet> style(const std::string& name) const
    {
        auto it = styles_.find(name);
        return it == styles_.end() ? nullptr : it->second;
    }

    void importRecord(const std::string& line)
    {
        size_t pos = 0;
        std::string kind = field(line, pos), styleName = field(line, pos);
        PropertySet set("shape " + std::to_string(shapes_.size()), style(styleName));
        while (pos < line.size()) {
            std::string f = field(line, pos);
            size_t eq = f.find('=');
            if (eq != std::string::npos)
                set.setProperty(f.substr(0, eq), parseValue(f.substr(eq + 1)));
        }
        shapes_.push_back(build(kind, set));
    }

    const std::vector<Shape>& shapes() const { return shapes_; }

private:
    static std::string field(const std::string& line, size_t& pos)
    {
        size_t end = line.find(';', pos);
        if (end == std::string::npos)
            end = line.size();
        std::string s = line.substr(pos, end - pos);
        pos = end + 1;
        return s;
    }

    static Value parseValue(const std::string& text)
    {
        Value v;
        char* end;
        v.i = strtol(text.c_str(), &end, 10);
        if (*end == '\0' && !text.empty())
            return v;
        v.d = strtod(text.c_str(), &end);
        v.type = *end == '\0' ? Value::Real : Value::Text;
        v.s = text;
        return v;
    }

    Shape build(const std::string& kind, const PropertySet& set)
    {
        Shape s;
        s.kind = kind;
        s.x = optionalInt(set, "PositionX", 0);
        s.y = optionalInt(set, "PositionY", 0);
        s.w = optionalInt(set, "Width", 100);
        s.h = optionalInt(set, "Height", 100);
        s.rotation = optionalInt(set, "RotateAngle", 0);
        s.fill = optionalInt(set, "FillColor", 0xffffff);
        s.line = optionalInt(set, "LineColor", 0);
        s.lineWidth = optionalInt(set, "LineWidth", 1);
        s.shadow = optionalInt(set, "Shadow", 0);
        s.transparency = optionalInt(set, "FillTransparence", 0);
        s.scale = optionalReal(set, "TextScale", 1.0);
        s.charHeight = optionalReal(set, "CharHeight", 12.0);
        s.label = optionalText(set, "Title", kind);
        s.font = optionalText(set, "CharFontName", "Sans");
        return s;
    }

    std::map<std::string, std::shared_ptr<PropertySet>> styles_;
    std::vector<Shape> shapes_;
};

static unsigned seed = 91;

static unsigned rnd(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 9) % n;
}

static std::string makeRecord(int i)
{
    static const char* const kinds[] = {"rect", "ellipse", "connector", "text"};
    static const char* const styles[] = {"default", "title", "none", "none"};
    std::string s = std::string(kinds[rnd(4)]) + ";" + styles[rnd(4)];
    s += ";PositionX=" + std::to_string(rnd(20000)) + ";PositionY=" + std::to_string(rnd(20000));
    s += ";Width=" + std::to_string(rnd(900)) + ";Height=" + std::to_string(rnd(900));
    if (rnd(4) == 0)
        s += ";FillColor=" + std::to_string(rnd(1 << 24));
    if (rnd(6) == 0)
        s += ";RotateAngle=" + std::to_string(rnd(360)) + ";TextScale=1.25";
    if (rnd(5) == 0)
        s += ";Title=Object " + std::to_string(i) + ";CharFontName=Liberation Serif";
    return s;
}

static std::string dump(const Shape& s)
{
    char buf[512];
    int n = snprintf(buf, sizeof buf, "%s|%s|%s|%ld,%ld,%ld,%ld|%lx|%lx|%ld|%ld|%ld|%ld|%.2f|%.2f",
                     s.kind.c_str(), s.label.c_str(), s.font.c_str(), s.x, s.y, s.w, s.h, s.fill,
                     s.line, s.lineWidth, s.shadow, s.rotation, s.transparency, s.scale, s.charHeight);
    return std::string(buf, n);
}

static std::shared_ptr<PropertySet> makeStyle(const std::string& name, long line, double height)
{
    auto set = std::make_shared<PropertySet>("style " + name, nullptr);
    Value v;
    v.i = line;
    set->setProperty("LineColor", v);
    v.type = Value::Real;
    v.d = height;
    set->setProperty("CharHeight", v);
    return set;
}

int main(int argc, char** argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 140000;
    Importer importer;
    importer.addStyle("default", makeStyle("default", 0x333333, 11.0));
    importer.addStyle("title", makeStyle("title", 0x0000ff, 28.0));
    for (int i = 0; i < count; ++i)
        importer.importRecord(makeRecord(i));

    uint64_t h = 14695981039346656037ull;
    for (const Shape& s : importer.shapes())
        for (unsigned char c : dump(s))
            h = (h ^ c) * 1099511628211ull;
    printf("%zu shapes, digest %016llx\n", importer.shapes().size(), static_cast<unsigned long long>(h));
    return 0;
}
