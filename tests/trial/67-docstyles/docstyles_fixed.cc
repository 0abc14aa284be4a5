// docstyles: works out the effective formatting of each run of text of a document from its own properties and the styles above, and
// prints which fonts, sizes and languages are used how much.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

class PropertySet {
public:
    void set(const std::string& name, std::string value) { values_[name] = std::move(value); }

    // Null if there is none of this name.
    const std::string* find(const std::string& name) const
    {
        auto found = values_.find(name);
        return found == values_.end() ? nullptr : &found->second;
    }

private:
    std::map<std::string, std::string> values_;
};

struct Style {
    std::string name;
    const Style* parent = nullptr;
    PropertySet properties;

    // The value of the style or of the nearest one above it that has one.
    const std::string* effective(const std::string& property) const
    {
        for (const Style* style = this; style; style = style->parent)
            if (const std::string* value = style->properties.find(property))
                return value;
        return nullptr;
    }
};

struct Run {
    int length = 0;
    PropertySet properties;
};

struct Paragraph {
    const Style* style = nullptr;
    std::vector<Run> runs;
};

struct Document {
    std::unordered_map<std::string, std::unique_ptr<Style>> styles;
    std::vector<Paragraph> paragraphs;
};

struct Format {
    std::string font, color, language;
    int size = 0, weight = 0, spacing = 0;
    bool italic = false, underlined = false, kerning = false, hidden = false;
};

static const std::string& resolve(const Paragraph& paragraph, const Run& run, const std::string& property, const std::string& otherwise)
{
    if (const std::string* value = run.properties.find(property))
        return *value;
    const std::string* value = paragraph.style->effective(property);
    return value ? *value : otherwise;
}

static Format format_of(const Paragraph& paragraph, const Run& run)
{
    static const std::string none = "none", zero = "0", unknown;
    Format format;
    format.font = resolve(paragraph, run, "font", unknown);
    format.color = resolve(paragraph, run, "color", unknown);
    format.language = resolve(paragraph, run, "lang", unknown);
    format.size = std::stoi(resolve(paragraph, run, "size", zero));
    format.weight = std::stoi(resolve(paragraph, run, "weight", zero));
    format.spacing = std::stoi(resolve(paragraph, run, "spacing", zero));
    format.italic = resolve(paragraph, run, "posture", none) != "none";
    format.underlined = resolve(paragraph, run, "underline", none) != "none";
    format.kerning = resolve(paragraph, run, "kerning", zero) != "0";
    format.hidden = resolve(paragraph, run, "hidden", zero) != "0";
    return format;
}

static void set_from(PropertySet& properties, const std::string& text)
{
    size_t equal = text.find('=');
    if (equal == std::string::npos)
        throw std::runtime_error("no value in " + text);
    properties.set(text.substr(0, equal), text.substr(equal + 1));
}

static Document read_document(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    Document document;
    Style* style = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line.empty())
            continue;
        if (line[0] == ' ' && style) {
            set_from(style->properties, line.substr(1));
            continue;
        }
        std::istringstream in(line);
        std::string word, name, parent;
        in >> word;
        if (word == "style") {
            in >> name >> parent;
            auto made = std::make_unique<Style>();
            made->name = name;
            if (!parent.empty())
                made->parent = document.styles.at(parent).get();
            style = made.get();
            document.styles[name] = std::move(made);
        } else if (word == "paragraph") {
            in >> name;
            document.paragraphs.push_back({document.styles.at(name).get(), {}});
        } else if (word == "run") {
            Run run;
            in >> run.length;
            std::string setting;
            for (std::getline(in, setting, ';'); std::getline(in, setting, ';');)
                set_from(run.properties, setting);
            document.paragraphs.back().runs.push_back(std::move(run));
        }
    }
    return document;
}

// Merges runs that look the same, as they are written out.
static size_t count_portions(const std::vector<Format>& formats)
{
    size_t portions = 0;
    for (size_t i = 0; i < formats.size(); i++) {
        const Format& f = formats[i];
        if (i && f.font == formats[i - 1].font && f.size == formats[i - 1].size && f.color == formats[i - 1].color && f.weight == formats[i - 1].weight)
            continue;
        portions++;
    }
    return portions;
}

int main(int argc, char** argv)
{
    try {
        Document document = read_document(argc > 1 ? argv[1] : "data/report.txt");
        std::map<std::pair<std::string, int>, long> fonts;
        std::map<std::string, long> languages;
        long visible = 0, hidden = 0, bold = 0, italic = 0, underlined = 0;
        size_t portions = 0;
        uint64_t sum = 14695981039346656037u;
        for (const Paragraph& paragraph : document.paragraphs) {
            std::vector<Format> formats;
            for (const Run& run : paragraph.runs) {
                Format format = format_of(paragraph, run);
                (format.hidden ? hidden : visible) += run.length;
                bold += format.weight > 500 ? run.length : 0;
                italic += format.italic ? run.length : 0;
                underlined += format.underlined ? run.length : 0;
                if (!format.hidden) {
                    fonts[{format.font, format.size}] += run.length;
                    languages[format.language] += run.length;
                }
                for (char c : format.font + format.color + format.language)
                    sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
                sum = (sum ^ static_cast<uint64_t>(format.size * 1000 + format.spacing)) * 1099511628211u;
                formats.push_back(std::move(format));
            }
            portions += count_portions(formats);
        }
        std::printf("%zu styles, %zu paragraphs, %zu portions, checksum %016llx\n", document.styles.size(), document.paragraphs.size(), portions,
                    static_cast<unsigned long long>(sum));
        std::printf("%ld characters, %ld hidden, %ld bold, %ld italic, %ld underlined\n", visible, hidden, bold, italic, underlined);
        for (const auto& [language, length] : languages)
            std::printf("%s %ld\n", language.c_str(), length);
        std::vector<std::pair<long, std::pair<std::string, int>>> most;
        for (const auto& [font, length] : fonts)
            most.push_back({-length, font});
        std::sort(most.begin(), most.end());
        for (size_t i = 0; i < most.size() && i < 6; i++)
            std::printf("%s %d: %ld\n", most[i].second.first.c_str(), most[i].second.second, -most[i].first);
    } catch (const std::exception& e) {
        std::cerr << "docstyles: " << e.what() << "\n";
        return 1;
    }
}
