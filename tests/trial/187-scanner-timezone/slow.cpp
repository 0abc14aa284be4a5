// scan_sales: multi-threaded scan of a column file (row groups of compressed
// columns), with a GROUP BY over the local hour of the sale's time stamp.
//   SELECT dayofweek(ts), hour(ts), count(*), sum(amount), max(amount),
//          count(distinct store) FROM sales WHERE amount > 0 GROUP BY 1, 2
// Time stamps are stored in UTC (int96: nanoseconds of the day, Julian day)
// and are to be shown in the session's time zone.
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static const int NUM_SCANNERS = 2;
static const int64_t SECONDS_PER_DAY = 86400;
static const int64_t JULIAN_EPOCH_DAY = 2440588;

// ------------------------------------------------------------------ file

struct ChunkMeta {
  uint32_t rows;
  uint32_t ts_size, amount_size, store_size;  // compressed sizes
};

struct RowGroup {
  ChunkMeta meta;
  const uint8_t* data;
};

class ColumnFile {
 public:
  explicit ColumnFile(const char* path) {
    FILE* f = fopen(path, "rb");
    if (!f) throw std::runtime_error(std::string("cannot open ") + path);
    fseek(f, 0, SEEK_END);
    buffer_.resize(ftell(f));
    rewind(f);
    bool ok = fread(buffer_.data(), 1, buffer_.size(), f) == buffer_.size();
    fclose(f);
    if (!ok) throw std::runtime_error("short read");
    size_t pos = 0;
    while (pos + sizeof(ChunkMeta) <= buffer_.size()) {
      RowGroup g;
      memcpy(&g.meta, &buffer_[pos], sizeof(ChunkMeta));
      pos += sizeof(ChunkMeta);
      g.data = &buffer_[pos];
      pos += g.meta.ts_size + g.meta.amount_size + g.meta.store_size;
      groups_.push_back(g);
    }
  }
  const std::vector<RowGroup>& groups() const { return groups_; }

 private:
  std::vector<uint8_t> buffer_;
  std::vector<RowGroup> groups_;
};

static void DecompressPage(const uint8_t* in, size_t in_size, std::vector<uint8_t>* out) {
  uLongf size = out->size();
  if (uncompress(out->data(), &size, in, in_size) != Z_OK || size != out->size())
    throw std::runtime_error("corrupt page");
}

// ------------------------------------------------------------------ time

struct Int96 {
  int64_t nanos;
  int32_t julian_day;
} __attribute__((packed));

// Calendar fields of a time stamp
class TimestampValue {
 public:
  static TimestampValue FromInt96(const Int96& v) {
    TimestampValue t;
    t.seconds_ = (v.julian_day - JULIAN_EPOCH_DAY) * SECONDS_PER_DAY + v.nanos / 1000000000;
    t.nanos_ = v.nanos % 1000000000;
    return t;
  }
  void UtcToLocal();
  int64_t days() const { return FloorDiv(seconds_, SECONDS_PER_DAY); }
  int hour() const { return (seconds_ - days() * SECONDS_PER_DAY) / 3600; }
  int day_of_week() const { return ((days() + 4) % 7 + 7) % 7; }
  int64_t seconds() const { return seconds_; }

  static int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

 private:
  int64_t seconds_ = 0;  // since 1970-01-01, in UTC or local time
  int32_t nanos_ = 0;
};

static int64_t DaysFromCivil(int y, int m, int d) {
  y -= m <= 2;
  const int era = (y >= 0 ? y : y - 399) / 400;
  const unsigned yoe = y - era * 400;
  const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  const unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097LL + doe - 719468;
}

void TimestampValue::UtcToLocal() {
  time_t t = seconds_;
  struct tm tm;
  if (!localtime_r(&t, &tm)) throw std::runtime_error("time stamp out of range");
  seconds_ = DaysFromCivil(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday) * SECONDS_PER_DAY +
             tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
}

// ------------------------------------------------------------------ aggregation

static const int NUM_STORES = 512;

struct Group {
  int64_t count = 0;
  int64_t sum = 0;
  int32_t max = 0;
  uint64_t stores[NUM_STORES / 64] = {};

  void Update(int32_t amount, unsigned store) {
    ++count;
    sum += amount;
    max = std::max(max, amount);
    stores[store / 64] |= 1ull << (store % 64);
  }
  void Merge(const Group& o) {
    count += o.count;
    sum += o.sum;
    max = std::max(max, o.max);
    for (int i = 0; i < NUM_STORES / 64; ++i) stores[i] |= o.stores[i];
  }
  int DistinctStores() const {
    int n = 0;
    for (uint64_t w : stores) n += __builtin_popcountll(w);
    return n;
  }
};

struct AggregateState {
  Group groups[7][24];
  int64_t first = INT64_MAX, last = INT64_MIN;
  int64_t scanned = 0;
};

// ------------------------------------------------------------------ scanner

class Scanner {
 public:
  Scanner(const ColumnFile& file, std::atomic<size_t>* next) : file_(file), next_(next) {}

  void Run() {
    size_t i;
    while ((i = next_->fetch_add(1)) < file_.groups().size()) ProcessRowGroup(file_.groups()[i]);
  }
  const AggregateState& state() const { return state_; }

 private:
  void ProcessRowGroup(const RowGroup& g) {
    const uint8_t* p = g.data;
    ts_.resize(g.meta.rows * sizeof(Int96));
    amount_.resize(g.meta.rows * sizeof(int32_t));
    store_.resize(g.meta.rows * sizeof(uint16_t));
    DecompressPage(p, g.meta.ts_size, &ts_);
    p += g.meta.ts_size;
    DecompressPage(p, g.meta.amount_size, &amount_);
    p += g.meta.amount_size;
    DecompressPage(p, g.meta.store_size, &store_);

    SelectRows(g.meta.rows);
    MaterializeTimestamps();
    Aggregate();
    state_.scanned += g.meta.rows;
  }

  // WHERE amount > 0
  void SelectRows(uint32_t rows) {
    const int32_t* amount = reinterpret_cast<const int32_t*>(amount_.data());
    selected_.clear();
    for (uint32_t i = 0; i < rows; ++i)
      if (amount[i] > 0) selected_.push_back(i);
  }

  void MaterializeTimestamps() {
    const Int96* raw = reinterpret_cast<const Int96*>(ts_.data());
    values_.resize(selected_.size());
    for (size_t i = 0; i < selected_.size(); ++i) {
      values_[i] = TimestampValue::FromInt96(raw[selected_[i]]);
      values_[i].UtcToLocal();
    }
  }

  void Aggregate() {
    const int32_t* amount = reinterpret_cast<const int32_t*>(amount_.data());
    const uint16_t* store = reinterpret_cast<const uint16_t*>(store_.data());
    for (size_t i = 0; i < selected_.size(); ++i) {
      const TimestampValue& t = values_[i];
      uint32_t row = selected_[i];
      state_.groups[t.day_of_week()][t.hour()].Update(amount[row], store[row] % NUM_STORES);
      state_.first = std::min(state_.first, t.seconds());
      state_.last = std::max(state_.last, t.seconds());
    }
  }

  const ColumnFile& file_;
  std::atomic<size_t>* next_;
  std::vector<uint8_t> ts_, amount_, store_;
  std::vector<uint32_t> selected_;
  std::vector<TimestampValue> values_;
  AggregateState state_;
};

// ------------------------------------------------------------------ coordinator

static void MergeStates(const AggregateState& from, AggregateState* to) {
  for (int d = 0; d < 7; ++d)
    for (int h = 0; h < 24; ++h) to->groups[d][h].Merge(from.groups[d][h]);
  to->first = std::min(to->first, from.first);
  to->last = std::max(to->last, from.last);
  to->scanned += from.scanned;
}

static void PrintResult(const AggregateState& s) {
  static const char* names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  for (int d = 0; d < 7; ++d) {
    for (int h = 0; h < 24; ++h) {
      const Group& g = s.groups[d][h];
      if (g.count)
        printf("%s %02d %9" PRId64 " %12" PRId64 ".%02d %7d %4d\n", names[d], h, g.count, g.sum / 100,
               int(g.sum % 100), g.max, g.DistinctStores());
    }
  }
  printf("%" PRId64 " rows, local seconds %" PRId64 " .. %" PRId64 "\n", s.scanned, s.first, s.last);
}

int main(int argc, char** argv) {
  setenv("TZ", argc > 2 ? argv[2] : "Europe/Budapest", 1);
  tzset();
  try {
    ColumnFile file(argc > 1 ? argv[1] : "sales.col");
    std::atomic<size_t> next{0};
    std::vector<Scanner> scanners(NUM_SCANNERS, Scanner(file, &next));
    std::vector<std::thread> threads;
    for (Scanner& s : scanners) threads.emplace_back([&s] { s.Run(); });
    AggregateState total;
    for (int i = 0; i < NUM_SCANNERS; ++i) {
      threads[i].join();
      MergeStates(scanners[i].state(), &total);
    }
    PrintResult(total);
  } catch (const std::exception& e) {
    fprintf(stderr, "scan_sales: %s\n", e.what());
    return 1;
  }
  return 0;
}
