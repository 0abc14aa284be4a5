// Names in the order in which they came, none twice.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

class DuplicateName : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Registry {
public:
    // Throws DuplicateName if the name is there already.
    void add(const std::string &name);
    void remove(const std::string &name);
    std::size_t size() const { return names_.size(); }

private:
    std::vector<std::string> names_;
};
