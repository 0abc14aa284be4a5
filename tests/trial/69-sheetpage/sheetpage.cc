// sheetpage: turns a spreadsheet in CSV into an HTML page with computed columns, totals and an index of regions.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A string whose content is shared by all copies and never changed.
class Text {
public:
    Text() : Text(std::string_view()) {}
    Text(const char* text) : Text(std::string_view(text)) {}
    Text(std::string_view text) : Text(text, std::string_view()) {}

    size_t size() const { return length_; }
    bool empty() const { return !length_; }
    const char* begin() const { return data_.get(); }
    const char* end() const { return data_.get() + length_; }
    std::string_view view() const { return {data_.get(), length_}; }

    Text& operator+=(const Text& more)
    {
        *this = Text(view(), more.view());
        return *this;
    }
    friend Text operator+(const Text& a, const Text& b) { return Text(a.view(), b.view()); }

    static Text number(double value, int digits)
    {
        char out[64];
        return Text(std::string_view(out, static_cast<size_t>(std::snprintf(out, sizeof out, "%.*f", digits, value))));
    }

private:
    Text(std::string_view a, std::string_view b) : data_(new char[a.size() + b.size() + 1]), length_(a.size() + b.size())
    {
        std::memcpy(data_.get(), a.data(), a.size());
        std::memcpy(data_.get() + a.size(), b.data(), b.size());
        data_.get()[length_] = 0;
    }

    std::shared_ptr<char[]> data_;
    size_t length_;
};

struct Cell {
    Text text;
    double value = 0;
    bool numeric = false;
};

using Row = std::vector<Cell>;

static Cell make_cell(std::string_view field)
{
    Cell cell;
    cell.text = Text(field);
    char* end = nullptr;
    cell.value = std::strtod(cell.text.begin(), &end);
    cell.numeric = !field.empty() && end == cell.text.end();
    return cell;
}

static std::vector<Row> read_sheet(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        Row row;
        std::string_view rest = line;
        for (size_t at = 0; at != std::string_view::npos;) {
            at = rest.find(';');
            row.push_back(make_cell(rest.substr(0, at)));
            if (at != std::string_view::npos)
                rest.remove_prefix(at + 1);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

static double rounded(double v)
{
    return std::floor(v * 100 + 0.5) / 100;
}

// Fills in tax and gross.
static void compute(std::vector<Row>& rows)
{
    for (size_t i = 1; i < rows.size(); i++) {
        Row& row = rows[i];
        if (row.size() < 7 || !row[4].numeric)
            continue;
        double tax = rounded(row[4].value * (row[1].text.view().substr(0, 4) == "East" ? 0.07 : 0.19));
        row[5] = {Text::number(tax, 2), tax, true};
        row[6] = {Text::number(row[4].value + tax, 2), row[4].value + tax, true};
    }
}

class PageWriter {
public:
    void open(const char* tag, const Text& attributes = {})
    {
        html_ += "<";
        html_ += tag;
        if (!attributes.empty())
            html_ += " " + attributes;
        html_ += ">";
        open_.push_back(tag);
    }

    void close()
    {
        html_ += "</" + Text(open_.back()) + ">";
        open_.pop_back();
    }

    void end_line() { html_ += "\n"; }

    void text(const Text& text) { html_ += escaped(text); }

    const Text& page() const { return html_; }

private:
    static Text escaped(const Text& text)
    {
        std::string out;
        for (char c : text) {
            switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
            }
        }
        return Text(out);
    }

    Text html_;
    std::vector<const char*> open_;
};

static void write_row(PageWriter& page, const Row& row, const char* tag)
{
    page.open("tr");
    for (const Cell& cell : row) {
        if (cell.numeric)
            page.open(tag, cell.value < 0 ? "class=\"n neg\"" : "class=\"n\"");
        else
            page.open(tag);
        page.text(cell.text);
        page.close();
    }
    page.close();
    page.end_line();
}

static void write_regions(PageWriter& page, const std::vector<Row>& rows)
{
    std::map<std::string, std::pair<int, double>> regions;
    for (size_t i = 1; i < rows.size(); i++) {
        auto& [count, gross] = regions[std::string(rows[i][1].text.view())];
        count++;
        gross += rows[i][6].value;
    }
    page.open("ul");
    for (const auto& [name, sum] : regions) {
        page.open("li");
        page.text(Text(name) + ": " + Text::number(sum.first, 0) + " invoices, " + Text::number(sum.second, 2));
        page.close();
        page.end_line();
    }
    page.close();
}

int main(int argc, char** argv)
{
    try {
        std::vector<Row> rows = read_sheet(argc > 1 ? argv[1] : "data/sheet.csv");
        compute(rows);
        PageWriter page;
        page.open("html");
        page.open("body");
        page.open("table", "id=\"sheet\"");
        for (size_t i = 0; i < rows.size(); i++)
            write_row(page, rows[i], i ? "td" : "th");
        page.close();
        write_regions(page, rows);
        page.close();
        page.close();
        page.end_line();
        const Text& html = page.page();
        uint64_t sum = 14695981039346656037u;
        for (char c : html)
            sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
        std::printf("%zu rows, %zu bytes of HTML, checksum %016llx\n", rows.size(), html.size(), static_cast<unsigned long long>(sum));
        std::string_view tail = html.view();
        tail = tail.substr(tail.find("<ul>"));
        std::printf("%.*s", static_cast<int>(tail.size()), tail.data());
    } catch (const std::exception& e) {
        std::cerr << "sheetpage: " << e.what() << "\n";
        return 1;
    }
}
