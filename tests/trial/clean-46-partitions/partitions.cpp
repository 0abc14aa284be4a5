// Computes the numbers of partitions p(0), p(1), ... exactly with Euler's recurrence over the pentagonal numbers. Each value
// needs hundreds of the values before it, and the values get longer, so that the steps take longer and longer.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

static constexpr int Last = 190000;

// All values in one array of limbs; those of a value are behind each other.
class Table {
    std::vector<uint64_t> limbs;
    std::vector<size_t> start{ 0 };

public:
    void reserve(size_t values, size_t total)
    {
        start.reserve(values + 1);
        limbs.reserve(total);
    }

    void append(const std::vector<uint64_t> &value, size_t length)
    {
        limbs.insert(limbs.end(), value.begin(), value.begin() + length);
        start.push_back(limbs.size());
    }

    const uint64_t *at(int n) const { return &limbs[start[n]]; }
    size_t length(int n) const { return start[n + 1] - start[n]; }
    size_t size() const { return start.size() - 1; }
    size_t total() const { return limbs.size(); }
};

static void add_to(uint64_t *sum, size_t room, const uint64_t *value, size_t length)
{
    unsigned char carry = 0;
    size_t i = 0;
    for (; i < length; i++) {
        unsigned long long t;
        carry = __builtin_uaddll_overflow(sum[i], carry, &t);
        carry |= __builtin_uaddll_overflow(t, value[i], &t);
        sum[i] = t;
    }
    for (; carry && i < room; i++) carry = ++sum[i] == 0;
}

static void subtract_from(uint64_t *sum, size_t room, const uint64_t *value, size_t length)
{
    unsigned char borrow = 0;
    size_t i = 0;
    for (; i < length; i++) {
        unsigned long long t;
        unsigned char first = __builtin_usubll_overflow(sum[i], borrow, &t);
        borrow = first | __builtin_usubll_overflow(t, value[i], &t);
        sum[i] = t;
    }
    for (; borrow && i < room; i++) borrow = sum[i]-- == 0;
}

static void next_value(const Table &p, int n, std::vector<uint64_t> &sum)
{
    size_t room = p.length(n - 1) + 2;
    sum.assign(room, 0);
    for (int sign = 0; sign < 2; sign++)
        for (int k = 1 + sign; k * (3 * k - 1) / 2 <= n; k += 2) {
            int a = n - k * (3 * k - 1) / 2, b = n - k * (3 * k + 1) / 2;
            auto apply = sign ? subtract_from : add_to;
            apply(sum.data(), room, p.at(a), p.length(a));
            if (b >= 0) apply(sum.data(), room, p.at(b), p.length(b));
        }
}

static std::string decimal(const uint64_t *limbs, size_t length)
{
    std::vector<uint64_t> v(limbs, limbs + length);
    std::string digits;
    while (!v.empty()) {
        unsigned __int128 rest = 0;
        for (size_t i = v.size(); i-- > 0;) {
            rest = rest << 64 | v[i];
            v[i] = (uint64_t)(rest / 1000000000u);
            rest %= 1000000000u;
        }
        while (!v.empty() && v.back() == 0) v.pop_back();
        for (int i = 0; i < 9; i++, rest /= 10) digits.push_back((char)('0' + (int)(rest % 10)));
    }
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    return std::string(digits.rbegin(), digits.rend());
}

int main()
{
    Table p;
    p.reserve(Last + 1, (size_t)Last * 19);
    std::vector<uint64_t> sum{ 1 };
    p.append(sum, 1);
    uint64_t multiples[3] = {};
    for (int n = 1; n <= Last; n++) {
        next_value(p, n, sum);
        size_t length = sum.size();
        while (length > 1 && sum[length - 1] == 0) length--;
        p.append(sum, length);
        multiples[0] += sum[0] % 2 == 0;
        multiples[1] += sum[0] % 4 == 0;
        multiples[2] += sum[0] % 64 == 0;
    }
    for (int n : { 10, 100, 1000, 10000 }) {
        std::string d = decimal(p.at(n), p.length(n));
        std::printf("p(%d) = %s%s (%zu digits)\n", n, d.substr(0, 30).c_str(), d.size() > 30 ? "..." : "", d.size());
    }
    std::string d = decimal(p.at(Last), p.length(Last));
    std::printf("p(%d) = %s... (%zu digits), %zu limbs in all\n", Last, d.substr(0, 30).c_str(), d.size(), p.total());
    std::printf("even %llu, by four %llu, by 64 %llu\n", (unsigned long long)multiples[0], (unsigned long long)multiples[1], (unsigned long long)multiples[2]);
}
