"""The domain and the group that both versions work on."""

import sys

import ldb
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB


def opened(folder):
    """The domain in a folder."""
    parameters = LoadParm()
    parameters.load(folder + "/etc/smb.conf")
    return SamDB(url=folder + "/private/sam.ldb", session_info=system_session(), lp=parameters)


def named(domain, name):
    """The entry of an account."""
    found = domain.search(domain.domain_dn(), expression=f"(sAMAccountName={ldb.binary_encode(name)})", attrs=["objectSid"])
    if len(found) != 1:
        sys.exit(f"{name}: {len(found)} accounts")
    return found[0].dn


def changed(domain, group, members):
    """A change of the group: these become members."""
    change = ldb.Message(group)
    change["member"] = ldb.MessageElement([str(member) for member in members], ldb.FLAG_MOD_ADD, "member")
    return change


def main(add_members):
    """Adds the members that a file names, in one transaction, prints how many there are, and takes it all back."""
    folder, names = sys.argv[1:]
    domain = opened(folder)
    group = named(domain, "everyone")
    with open(names, encoding="ascii") as file:
        members = [line.strip() for line in file]
    domain.transaction_start()
    add_members(domain, group, members)
    print(len(domain.search(group, scope=ldb.SCOPE_BASE, attrs=["member"])[0]["member"]), "members")
    domain.transaction_cancel()
