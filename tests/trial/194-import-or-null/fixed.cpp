// tsv_load: import a TSV file of measurements into typed, nullable columns
// and run a few aggregations over them.
//   CREATE TABLE m (sensor LowCardinality(String), ts Nullable(DateTime),
//                   value Nullable(Float64), quality Nullable(Int32))
//   INSERT INTO m SELECT s, parseDateTimeBestEffortOrNull(t),
//                   toFloat64OrNull(v), toInt32OrNull(q) FROM file
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// ---------------------------------------------------------------- exceptions

enum ErrorCode { CANNOT_PARSE_NUMBER = 72, CANNOT_PARSE_DATETIME = 41, CANNOT_OPEN_FILE = 76, INCORRECT_DATA = 117 };

class Exception : public std::runtime_error
{
public:
    Exception(ErrorCode code_, const std::string & message) : std::runtime_error("Code: " + std::to_string(code_) + ". " + message), code(code_) {}
    const ErrorCode code;
};

// ---------------------------------------------------------------- reading

class ReadBuffer
{
public:
    explicit ReadBuffer(std::string_view s) : pos(s.data()), end(s.data() + s.size()) {}
    bool eof() const { return pos == end; }
    char operator*() const { return *pos; }
    void next() { ++pos; }
    std::string_view rest() const { return {pos, size_t(end - pos)}; }

private:
    const char * pos;
    const char * end;
};

static bool tryReadInt(ReadBuffer & in, int32_t & x)
{
    bool negative = false;
    if (!in.eof() && (*in == '-' || *in == '+'))
    {
        negative = *in == '-';
        in.next();
    }
    if (in.eof())
        return false;
    int64_t res = 0;
    for (; !in.eof(); in.next())
    {
        if (*in < '0' || *in > '9')
            return false;
        res = res * 10 + (*in - '0');
        if (res > INT32_MAX)
            return false;
    }
    x = int32_t(negative ? -res : res);
    return true;
}

static bool tryReadFloat(ReadBuffer & in, double & x)
{
    bool negative = false;
    if (!in.eof() && *in == '-')
    {
        negative = true;
        in.next();
    }
    uint64_t digits = 0;
    int scale = 0, count = 0;
    for (bool point = false; !in.eof(); in.next())
    {
        if (*in == '.' && !point)
        {
            point = true;
            continue;
        }
        if (*in < '0' || *in > '9' || ++count > 17)
            return false;
        digits = digits * 10 + (*in - '0');
        scale += point;
    }
    if (!count)
        return false;
    double res = double(digits) / std::pow(10.0, scale);
    x = negative ? -res : res;
    return true;
}

static int64_t daysFromCivil(int y, unsigned m, unsigned d)
{
    y -= m <= 2;
    const int era = (y >= 0 ? y : y - 399) / 400;
    const unsigned yoe = unsigned(y - era * 400);
    const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return era * 146097LL + int64_t(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

/// One number of at most max_digits digits; the digits read are counted.
static unsigned readDigits(ReadBuffer & in, int max_digits, int & count)
{
    unsigned res = 0;
    for (count = 0; count < max_digits && !in.eof() && *in >= '0' && *in <= '9'; in.next(), ++count)
        res = res * 10 + (*in - '0');
    return res;
}

/// YYYY-MM-DD, YYYY/MM/DD, DD.MM.YYYY, each with an optional hh:mm[:ss], or a unix time stamp
static bool tryParseDateTimeBestEffort(ReadBuffer & in, int64_t & res)
{
    auto on_error = [&](const char *) { return false; };
    int n;
    unsigned first = readDigits(in, 10, n), year, month, day;
    if (n == 10 && in.eof())
    {
        res = first;
        return true;
    }
    if (in.eof() || (n != 4 && n != 2))
        return on_error("neither a date nor a time stamp");
    const char separator = *in;
    if (n == 4 ? (separator != '-' && separator != '/') : separator != '.')
        return on_error("unexpected separator");
    in.next();
    month = readDigits(in, 2, n);
    if (n == 0 || in.eof() || *in != separator)
        return on_error("unexpected end of date");
    in.next();
    if (separator == '.')
    {
        day = first;
        year = readDigits(in, 4, n);
    }
    else
    {
        year = first;
        day = readDigits(in, 2, n);
    }
    if (n == 0 || month < 1 || month > 12 || day < 1 || day > 31 || year < 1970)
        return on_error("no such day");
    unsigned time[3] = {0, 0, 0};
    if (!in.eof() && (*in == ' ' || *in == 'T'))
    {
        for (int i = 0; i < 3 && !in.eof() && (i == 0 || *in == ':'); ++i)
        {
            in.next();
            time[i] = readDigits(in, 2, n);
            if (n != 2 || time[i] > (i ? 59u : 23u))
                return on_error("no such time");
        }
    }
    if (!in.eof())
        return on_error("trailing symbols");
    res = daysFromCivil(year, month, day) * 86400 + time[0] * 3600 + time[1] * 60 + time[2];
    return true;
}

// ---------------------------------------------------------------- columns

template <typename T>
struct ColumnNullable
{
    std::vector<T> data;
    std::vector<uint8_t> null_map;
    size_t nulls = 0;

    void insert(T x)
    {
        data.push_back(x);
        null_map.push_back(0);
    }
    void insertDefault()
    {
        data.push_back(T());
        null_map.push_back(1);
        ++nulls;
    }
};

struct ColumnLowCardinality
{
    std::unordered_map<std::string, uint32_t> index;
    std::vector<std::string> dictionary;
    std::vector<uint32_t> data;

    void insert(std::string_view s)
    {
        auto [it, inserted] = index.emplace(s, dictionary.size());
        if (inserted)
            dictionary.emplace_back(s);
        data.push_back(it->second);
    }
};

/// The ...OrNull functions: what cannot be parsed becomes NULL.
template <typename T, bool (*tryParse)(ReadBuffer &, T &)>
void convertOrNull(std::string_view field, ColumnNullable<T> & column)
{
    ReadBuffer in(field);
    T x;
    if (tryParse(in, x))
        column.insert(x);
    else
        column.insertDefault();
}

struct Table
{
    ColumnLowCardinality sensor;
    ColumnNullable<int64_t> ts;
    ColumnNullable<double> value;
    ColumnNullable<int32_t> quality;
    size_t rows() const { return sensor.data.size(); }
};

static void insertRow(Table & table, const std::string_view * fields)
{
    table.sensor.insert(fields[0]);
    convertOrNull<int64_t, tryParseDateTimeBestEffort>(fields[1], table.ts);
    convertOrNull<double, tryReadFloat>(fields[2], table.value);
    convertOrNull<int32_t, tryReadInt>(fields[3], table.quality);
}

static void loadFile(const char * path, Table & table)
{
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path, "r"), fclose);
    if (!file)
        throw Exception(CANNOT_OPEN_FILE, path);
    char * line = nullptr;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, file.get())) > 0)
    {
        if (line[len - 1] == '\n')
            --len;
        std::string_view rest(line, len), fields[4];
        for (int i = 0; i < 4; ++i)
        {
            size_t tab = rest.find('\t');
            if ((tab == rest.npos) != (i == 3))
                throw Exception(INCORRECT_DATA, "wrong number of fields: " + std::string(line, len));
            fields[i] = rest.substr(0, tab);
            rest.remove_prefix(i == 3 ? rest.size() : tab + 1);
        }
        insertRow(table, fields);
    }
    free(line);
}

// ---------------------------------------------------------------- queries

struct Stat
{
    size_t count = 0;
    double sum = 0, sum2 = 0;
    void add(double x)
    {
        ++count;
        sum += x;
        sum2 += x * x;
    }
    double avg() const { return count ? sum / count : 0; }
    double dev() const { return count ? std::sqrt(std::max(0.0, sum2 / count - avg() * avg())) : 0; }
};

static void queryBySensor(const Table & t)
{
    std::vector<Stat> stats(t.sensor.dictionary.size());
    for (size_t i = 0; i < t.rows(); ++i)
        if (!t.value.null_map[i] && !(t.quality.null_map[i] == 0 && t.quality.data[i] < 10))
            stats[t.sensor.data[i]].add(t.value.data[i]);
    std::map<std::string, Stat> sorted;
    for (size_t i = 0; i < stats.size(); ++i)
        sorted[t.sensor.dictionary[i]] = stats[i];
    for (const auto & [name, s] : sorted)
        printf("%-10s %8zu %10.3f %9.3f\n", name.c_str(), s.count, s.avg(), s.dev());
}

static void queryByDay(const Table & t)
{
    std::map<int64_t, std::unordered_map<uint32_t, Stat>> days;
    for (size_t i = 0; i < t.rows(); ++i)
        if (!t.ts.null_map[i] && !t.value.null_map[i])
            days[t.ts.data[i] / 86400][t.sensor.data[i]].add(t.value.data[i]);
    for (const auto & [day, sensors] : days)
    {
        Stat of_means;
        for (uint32_t s = 0; s < t.sensor.dictionary.size(); ++s)
            if (auto it = sensors.find(s); it != sensors.end())
                of_means.add(it->second.avg());
        printf("day %lld: %zu sensors, %.4f +- %.4f\n", (long long)day, of_means.count, of_means.avg(), of_means.dev());
    }
}

int main(int argc, char ** argv)
{
    try
    {
        Table table;
        loadFile(argc > 1 ? argv[1] : "measurements.tsv", table);
        queryBySensor(table);
        queryByDay(table);
        printf("%zu rows, NULLs: ts %zu, value %zu, quality %zu\n", table.rows(), table.ts.nulls, table.value.nulls, table.quality.nulls);
    }
    catch (const std::exception & e)
    {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
