"""Each member is a change of its own."""

import group


def add_members(domain, everyone, members):
    for name in members:
        domain.modify(group.changed(domain, everyone, [group.named(domain, name)]))


group.main(add_members)
