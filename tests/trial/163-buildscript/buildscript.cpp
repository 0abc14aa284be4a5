// buildscript - evaluate a small build description language: variables,
// functions with their own variable scope, loops and target declarations.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Args = std::vector<std::string>;

struct Command {
    std::string name;
    Args args;
};

struct Function {
    Args params;
    std::vector<Command> body;
};

class Definitions {
public:
    Definitions() : frames_(1) {}

    void push();
    void pop() { frames_.pop_back(); }
    void set(const std::string& key, const std::string& value) { frames_.back()[key] = value; }
    void raise(const std::string& key, const std::string& value);
    const std::string* find(const std::string& key) const;
    size_t depth() const { return frames_.size(); }

private:
    using Frame = std::map<std::string, std::string>;
    std::vector<Frame> frames_;
};

void Definitions::push()
{
    Frame frame = frames_.back();
    frames_.push_back(std::move(frame));
}

void Definitions::raise(const std::string& key, const std::string& value)
{
    frames_[frames_.size() - 2][key] = value;
}

const std::string* Definitions::find(const std::string& key) const
{
    auto it = frames_.back().find(key);
    return it == frames_.back().end() ? nullptr : &it->second;
}

class Lexer {
public:
    explicit Lexer(const std::string& text) : text_(text) {}

    bool next(Command& out)
    {
        skipSpace();
        if (pos_ >= text_.size())
            return false;
        out.name = word();
        out.args.clear();
        skipSpace();
        expect('(');
        for (skipSpace(); text_[pos_] != ')'; skipSpace())
            out.args.push_back(text_[pos_] == '"' ? quoted() : word());
        expect(')');
        return true;
    }

private:
    void skipSpace()
    {
        while (pos_ < text_.size()) {
            if (text_[pos_] == '#')
                while (pos_ < text_.size() && text_[pos_] != '\n')
                    ++pos_;
            else if (isspace(static_cast<unsigned char>(text_[pos_])))
                ++pos_;
            else
                break;
        }
    }
    void expect(char c)
    {
        if (pos_ >= text_.size() || text_[pos_] != c)
            throw std::runtime_error(std::string("expected ") + c);
        ++pos_;
    }
    std::string word()
    {
        size_t start = pos_;
        while (pos_ < text_.size() && !isspace(static_cast<unsigned char>(text_[pos_])) &&
               text_[pos_] != '(' && text_[pos_] != ')')
            ++pos_;
        return text_.substr(start, pos_ - start);
    }
    std::string quoted()
    {
        size_t end = text_.find('"', ++pos_);
        if (end == std::string::npos)
            throw std::runtime_error("unterminated string");
        std::string s = text_.substr(pos_, end - pos_);
        pos_ = end + 1;
        return s;
    }

    const std::string& text_;
    size_t pos_ = 0;
};

class Interpreter {
public:
    void run(const std::string& text)
    {
        Lexer lexer(text);
        std::vector<Command> commands;
        for (Command c; lexer.next(c);)
            commands.push_back(c);
        execute(commands, 0, commands.size());
    }
    void report() const
    {
        printf("%zu targets, %zu calls, depth %zu, digest %016llx\n", targets_, calls_,
               defs_.depth(), static_cast<unsigned long long>(digest_));
    }

private:
    std::string expand(const std::string& in) const
    {
        std::string out;
        for (size_t i = 0; i < in.size();) {
            if (in[i] == '$' && i + 1 < in.size() && in[i + 1] == '{') {
                size_t end = in.find('}', i);
                if (const std::string* v = defs_.find(in.substr(i + 2, end - i - 2)))
                    out += *v;
                i = end + 1;
            } else {
                out += in[i++];
            }
        }
        return out;
    }

    static size_t blockEnd(const std::vector<Command>& c, size_t at, const char* open, const char* close)
    {
        int level = 0;
        for (size_t i = at; i < c.size(); ++i) {
            if (c[i].name == open)
                ++level;
            else if (c[i].name == close && --level == 0)
                return i;
        }
        throw std::runtime_error(std::string("missing ") + close);
    }

    void execute(const std::vector<Command>& c, size_t from, size_t to)
    {
        for (size_t i = from; i < to; ++i) {
            if (c[i].name == "function") {
                size_t end = blockEnd(c, i, "function", "endfunction");
                Function& f = functions_[c[i].args[0]];
                f.params.assign(c[i].args.begin() + 1, c[i].args.end());
                f.body.assign(c.begin() + i + 1, c.begin() + end);
                i = end;
            } else if (c[i].name == "foreach") {
                size_t end = blockEnd(c, i, "foreach", "endforeach");
                int last = atoi(expand(c[i].args[1]).c_str());
                for (int n = 0; n < last; ++n) {
                    defs_.set(c[i].args[0], std::to_string(n));
                    execute(c, i + 1, end);
                }
                i = end;
            } else {
                invoke(c[i]);
            }
        }
    }

    void invoke(const Command& c)
    {
        Args a;
        for (const std::string& s : c.args)
            a.push_back(expand(s));
        if (c.name == "set")
            defs_.set(a[0], a[1]);
        else if (c.name == "return_value")
            defs_.raise(a[0], a[1]);
        else if (c.name == "target")
            addTarget(a);
        else
            call(c.name, a);
    }

    void call(const std::string& name, const Args& a)
    {
        auto it = functions_.find(name);
        if (it == functions_.end())
            throw std::runtime_error("unknown command " + name);
        ++calls_;
        defs_.push();
        for (size_t i = 0; i < it->second.params.size(); ++i)
            defs_.set(it->second.params[i], i < a.size() ? a[i] : "");
        execute(it->second.body, 0, it->second.body.size());
        defs_.pop();
    }

    void addTarget(const Args& a)
    {
        ++targets_;
        for (const std::string& s : a)
            for (unsigned char ch : s)
                digest_ = (digest_ ^ ch) * 1099511628211ull;
    }

    Definitions defs_;
    std::map<std::string, Function> functions_;
    size_t targets_ = 0, calls_ = 0;
    uint64_t digest_ = 14695981039346656037ull;
};

static std::string projectText(int options, int modules)
{
    std::ostringstream s;
    for (int i = 0; i < options; ++i)
        s << "set(PROJECT_OPTION_" << (i * 7919) % 10007 << " \"/usr/lib/package-" << i << "/share\")\n";
    s << "set(PREFIX \"/opt/product\")\n"
      << "function(join_path out a b)\n  return_value(${out} \"${a}/${b}\")\nendfunction()\n"
      << "function(compile_flags out module)\n"
      << "  join_path(inc ${PREFIX} include)\n"
      << "  return_value(${out} \"-I${inc} -DMODULE=${module} -O2\")\nendfunction()\n"
      << "function(add_module name dir)\n"
      << "  join_path(source ${dir} ${name}.cc)\n  compile_flags(flags ${name})\n"
      << "  target(${name} ${source} ${flags} ${PROJECT_OPTION_7919})\nendfunction()\n"
      << "foreach(n " << modules << ")\n  add_module(module_${n} ${PREFIX}/src/${n})\nendforeach()\n";
    return s.str();
}

int main(int argc, char** argv)
{
    Interpreter interp;
    interp.run(projectText(400, argc > 1 ? atoi(argv[1]) : 14000));
    interp.report();
    return 0;
}
