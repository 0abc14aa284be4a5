"""All members are one change."""

import group


def add_members(domain, everyone, members):
    domain.modify(group.changed(domain, everyone, [group.named(domain, name) for name in members]))


group.main(add_members)
