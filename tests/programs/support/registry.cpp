#include "registry.h"

#include <algorithm>

void Registry::add(const std::string &name)
{
    if (std::find(names_.begin(), names_.end(), name) != names_.end())
        throw DuplicateName(name);
    names_.push_back(name);
}

void Registry::remove(const std::string &name)
{
    names_.erase(std::find(names_.begin(), names_.end(), name));
}
