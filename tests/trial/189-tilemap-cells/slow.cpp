// tilemap: load a tile map, lay a road network, compute the autotiling masks
// and the reachable regions, and print statistics of each layer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct Vector2i {
	int32_t x = 0, y = 0;
	Vector2i() {}
	Vector2i(int32_t p_x, int32_t p_y) :
			x(p_x), y(p_y) {}
	bool operator==(const Vector2i &p) const { return x == p.x && y == p.y; }
	Vector2i operator+(const Vector2i &p) const { return Vector2i(x + p.x, y + p.y); }
};

/* ---- hashing -------------------------------------------------------------- */

static inline uint32_t hash_djb2_one_32(uint32_t p_in, uint32_t p_prev = 5381) {
	return ((p_prev << 5) + p_prev) + p_in;
}

struct HashMapHasherDefault {
	static uint32_t hash(const Vector2i &p_vec) {
		uint32_t h = hash_djb2_one_32(p_vec.x);
		return hash_djb2_one_32(p_vec.y, h);
	}
};

/* Chained hash map with a power of two table; keeps the insertion order in a
   list of its own. */
template <class TKey, class TData, class Hasher = HashMapHasherDefault>
class HashMap {
	static const uint8_t MIN_HASH_TABLE_POWER = 3;
	static const uint8_t RELATIONSHIP = 8;

public:
	struct Element {
		Element *next = nullptr; // in the bucket
		Element *order_next = nullptr;
		uint32_t hash = 0;
		TKey key;
		TData data;
	};

	HashMap() {}
	~HashMap() { clear(); }
	HashMap(const HashMap &) = delete;

	TData *getptr(const TKey &p_key) {
		Element *e = _find(p_key);
		return e ? &e->data : nullptr;
	}
	const TData *getptr(const TKey &p_key) const {
		const Element *e = _find(p_key);
		return e ? &e->data : nullptr;
	}
	bool has(const TKey &p_key) const { return _find(p_key) != nullptr; }

	TData &operator[](const TKey &p_key) {
		Element *e = _find(p_key);
		if (!e) {
			if (!hash_table) {
				_make_table(MIN_HASH_TABLE_POWER);
			}
			e = new Element;
			e->key = p_key;
			e->hash = Hasher::hash(p_key);
			uint32_t index = e->hash & ((1u << hash_table_power) - 1);
			e->next = hash_table[index];
			hash_table[index] = e;
			if (tail) {
				tail->order_next = e;
			} else {
				head = e;
			}
			tail = e;
			elements++;
			_check_table();
		}
		return e->data;
	}
	uint32_t size() const { return elements; }
	const Element *first() const { return head; }

	void clear() {
		for (Element *e = head; e;) {
			Element *n = e->order_next;
			delete e;
			e = n;
		}
		delete[] hash_table;
		hash_table = nullptr;
		head = tail = nullptr;
		elements = 0;
	}

private:
	Element *_find(const TKey &p_key) const {
		if (!hash_table) {
			return nullptr;
		}
		uint32_t hash = Hasher::hash(p_key);
		Element *e = hash_table[hash & ((1u << hash_table_power) - 1)];
		while (e) {
			if (e->hash == hash && e->key == p_key) {
				return e;
			}
			e = e->next;
		}
		return nullptr;
	}
	void _make_table(uint8_t p_power) {
		hash_table_power = p_power;
		hash_table = new Element *[1u << p_power]();
	}
	void _check_table() {
		if (elements <= (1u << hash_table_power) * RELATIONSHIP / 8) {
			return;
		}
		delete[] hash_table;
		_make_table(hash_table_power + 1);
		for (Element *e = head; e; e = e->order_next) {
			uint32_t index = e->hash & ((1u << hash_table_power) - 1);
			e->next = hash_table[index];
			hash_table[index] = e;
		}
	}

	Element **hash_table = nullptr;
	uint8_t hash_table_power = 0;
	uint32_t elements = 0;
	Element *head = nullptr, *tail = nullptr;
};

/* ---- the map -------------------------------------------------------------- */

enum Tile : uint8_t { GRASS,
	WATER,
	ROCK,
	SAND,
	FOREST,
	ROAD,
	TILE_COUNT };

static const int move_cost[TILE_COUNT] = { 2, 0, 0, 3, 4, 1 };

struct Cell {
	Tile tile = GRASS;
	uint8_t mask = 0;
	int32_t region = -1;
};

class TileMap {
public:
	void set_cell(const Vector2i &p_pos, Tile p_tile) { cells[p_pos].tile = p_tile; }
	Tile get_tile(const Vector2i &p_pos) const {
		const Cell *c = cells.getptr(p_pos);
		return c ? c->tile : TILE_COUNT;
	}
	bool is_walkable(const Vector2i &p_pos) const {
		Tile t = get_tile(p_pos);
		return t != TILE_COUNT && move_cost[t] > 0;
	}

	bool load(const char *p_path, std::vector<Vector2i> &r_towns);
	void smooth();
	void update_masks();
	int find_regions();
	int lay_road(const Vector2i &p_from, const Vector2i &p_to);
	void print(int p_regions) const;

private:
	HashMap<Vector2i, Cell> cells;
};

static const Vector2i neighbors[8] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 1, -1 }, { 1, 1 }, { -1, 1 }, { -1, -1 } };

/* Lines "x y letters" for runs of cells, "town x y" for towns */
bool TileMap::load(const char *p_path, std::vector<Vector2i> &r_towns) {
	static const char letters[] = "gwrsf";
	std::ifstream in(p_path);
	std::string line, word;
	while (std::getline(in, line)) {
		std::istringstream fields(line);
		fields >> word;
		Vector2i p;
		if (word == "town") {
			fields >> p.x >> p.y;
			r_towns.push_back(p);
			continue;
		}
		p.x = atoi(word.c_str());
		fields >> p.y >> word;
		for (char ch : word) {
			const char *at = strchr(letters, ch);
			if (at) {
				set_cell(p, Tile(at - letters));
			}
			p.x++;
		}
	}
	return cells.size() > 0;
}

/* single tiles among others get the most frequent kind around them */
void TileMap::smooth() {
	std::vector<std::pair<Vector2i, Tile>> changes;
	for (const auto *e = cells.first(); e; e = e->order_next) {
		int count[TILE_COUNT + 1] = {};
		for (const Vector2i &n : neighbors) {
			count[get_tile(e->key + n)]++;
		}
		if (count[e->data.tile] > 1) {
			continue;
		}
		int best = e->data.tile;
		for (int t = 0; t < TILE_COUNT; t++) {
			if (count[t] > count[best]) {
				best = t;
			}
		}
		changes.emplace_back(e->key, Tile(best));
	}
	for (const auto &c : changes) {
		set_cell(c.first, c.second);
	}
}

void TileMap::update_masks() {
	for (const auto *e = cells.first(); e; e = e->order_next) {
		uint8_t mask = 0;
		for (int i = 0; i < 8; i++) {
			if (get_tile(e->key + neighbors[i]) == e->data.tile) {
				mask |= 1 << i;
			}
		}
		cells.getptr(e->key)->mask = mask;
	}
}

int TileMap::find_regions() {
	int regions = 0;
	std::deque<Vector2i> queue;
	for (const auto *e = cells.first(); e; e = e->order_next) {
		if (e->data.region >= 0 || !is_walkable(e->key)) {
			continue;
		}
		cells.getptr(e->key)->region = regions;
		queue.push_back(e->key);
		while (!queue.empty()) {
			Vector2i p = queue.front();
			queue.pop_front();
			for (int i = 0; i < 4; i++) {
				Vector2i n = p + neighbors[i];
				Cell *c = cells.getptr(n);
				if (c && c->region < 0 && move_cost[c->tile] > 0) {
					c->region = regions;
					queue.push_back(n);
				}
			}
		}
		regions++;
	}
	return regions;
}

/* Dijkstra with a bucket queue, as the costs are small; returns the length */
int TileMap::lay_road(const Vector2i &p_from, const Vector2i &p_to) {
	struct Step {
		int cost = INT32_MAX;
		Vector2i prev;
		bool done = false;
	};
	HashMap<Vector2i, Step> steps;
	std::vector<std::vector<Vector2i>> buckets(1, std::vector<Vector2i>(1, p_from));
	steps[p_from].cost = 0;
	for (size_t cost = 0; cost < buckets.size(); cost++) {
		for (size_t i = 0; i < buckets[cost].size(); i++) {
			Vector2i p = buckets[cost][i];
			Step &s = steps[p];
			if (s.done) {
				continue;
			}
			s.done = true;
			if (p == p_to) {
				int length = 0;
				for (Vector2i q = p_to; !(q == p_from); q = steps[q].prev, length++) {
					set_cell(q, ROAD);
				}
				return length;
			}
			for (int k = 0; k < 4; k++) {
				Vector2i n = p + neighbors[k];
				Tile t = get_tile(n);
				if (t == TILE_COUNT || move_cost[t] == 0) {
					continue;
				}
				size_t c = cost + move_cost[t];
				Step &sn = steps[n];
				if (int(c) < sn.cost) {
					sn.cost = c;
					sn.prev = p;
					if (buckets.size() <= c) {
						buckets.resize(c + 1);
					}
					buckets[c].push_back(n);
				}
			}
		}
		std::vector<Vector2i>().swap(buckets[cost]);
	}
	return -1;
}

void TileMap::print(int p_regions) const {
	static const char *names[] = { "grass", "water", "rock", "sand", "forest", "road" };
	int count[TILE_COUNT] = {}, inner[TILE_COUNT] = {};
	uint64_t sum = 0;
	for (const auto *e = cells.first(); e; e = e->order_next) {
		count[e->data.tile]++;
		inner[e->data.tile] += e->data.mask == 255;
		sum = sum * 31 + e->data.tile * 1000003 + e->data.mask * 257 + e->data.region;
	}
	for (int t = 0; t < TILE_COUNT; t++) {
		printf("%-7s %8d cells, %8d inner\n", names[t], count[t], inner[t]);
	}
	printf("%d regions, checksum %016llx\n", p_regions, (unsigned long long)sum);
}

int main(int argc, char **argv) {
	TileMap map;
	std::vector<Vector2i> towns;
	if (!map.load(argc > 1 ? argv[1] : "world.map", towns)) {
		fprintf(stderr, "no map\n");
		return 1;
	}
	for (int i = 0; i < 3; i++) {
		map.smooth();
	}
	for (size_t i = 1; i < towns.size(); i++) {
		printf("road %zu: %d\n", i, map.lay_road(towns[i - 1], towns[i]));
	}
	map.update_masks();
	map.print(map.find_regions());
	return 0;
}
