// authgate: decides for each request of a log whether the policy allows it, and writes an audit summary.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Rule {
    std::string verb;
    std::string prefix;
};

struct Role {
    std::string name;
    std::vector<Rule> rules;
};

using RoleTable = std::map<std::string, Role>;

class PolicyStore {
  public:
    void load(const std::string &path) {
        std::ifstream in(path);
        if (!in) throw std::runtime_error("cannot open " + path);
        std::string line, word;
        Role *role = nullptr;
        while (std::getline(in, line)) {
            std::istringstream is(line);
            is >> word;
            if (word == "role") {
                std::string name;
                is >> name;
                role = &roles_[name];
                role->name = name;
            } else if (word == "allow" && role) {
                Rule r;
                is >> r.verb >> r.prefix;
                role->rules.push_back(r);
            }
        }
        generation_++;
    }

    const RoleTable &roles() const { return roles_; }
    int generation() const { return generation_; }

  private:
    RoleTable roles_;
    int generation_ = 0;
};

struct Request {
    std::string user, role, verb, object;
};

struct Decision {
    bool allowed = false;
    size_t rule = 0;
};

class Authorizer {
  public:
    explicit Authorizer(const PolicyStore &store) : store_(store) {}

    Decision check(const Request &rq) const {
        Decision d;
        const RoleTable &roles = store_.roles();
        auto it = roles.find(rq.role);
        if (it == roles.end()) return d;
        const auto &rules = it->second.rules;
        for (size_t i = 0; i < rules.size(); i++) {
            if (rules[i].verb == rq.verb && matches(rules[i].prefix, rq.object)) {
                d.allowed = true;
                d.rule = i + 1;
                break;
            }
        }
        return d;
    }

  private:
    static bool matches(const std::string &prefix, const std::string &object) {
        return object.compare(0, prefix.size(), prefix) == 0 &&
               (object.size() == prefix.size() || object[prefix.size()] == '/');
    }

    const PolicyStore &store_;
};

class Audit {
  public:
    void add(const Request &rq, const Decision &d) {
        auto &u = users_[rq.user];
        (d.allowed ? u.allowed : u.denied)++;
        hash_ = (hash_ ^ (d.rule + 17 * d.allowed)) * 1099511628211ull;
        total_++;
    }

    void print(std::ostream &os) const {
        std::vector<std::pair<std::string, Counts>> all(users_.begin(), users_.end());
        std::sort(all.begin(), all.end(), [](auto &a, auto &b) {
            return a.second.denied != b.second.denied ? a.second.denied > b.second.denied : a.first < b.first;
        });
        uint64_t ok = 0;
        for (auto &u : all) ok += u.second.allowed;
        os << "requests " << total_ << ", allowed " << ok << ", users " << all.size() << ", hash " << std::hex << hash_
           << std::dec << "\n";
        for (size_t i = 0; i < 5 && i < all.size(); i++)
            os << all[i].first << " denied " << all[i].second.denied << " allowed " << all[i].second.allowed << "\n";
    }

  private:
    struct Counts {
        uint64_t allowed = 0, denied = 0;
    };
    std::map<std::string, Counts> users_;
    uint64_t hash_ = 14695981039346656037ull, total_ = 0;
};

static bool parseRequest(const std::string &line, Request &rq) {
    std::istringstream is(line);
    return bool(is >> rq.user >> rq.role >> rq.verb >> rq.object);
}

int main(int argc, char **argv) {
    try {
        PolicyStore store;
        store.load("data/policy.conf");
        Authorizer auth(store);
        Audit audit;
        std::ifstream in(argc > 1 ? argv[1] : "data/requests.txt");
        std::string line;
        Request rq;
        while (std::getline(in, line))
            if (parseRequest(line, rq)) audit.add(rq, auth.check(rq));
        audit.print(std::cout);
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
