"""Makes the domain of the case: an Active Directory in a folder, with users and an empty group. Nothing is served, and nothing outside the folder is touched."""

import logging
import sys

import samba.provision
from samba.auth import system_session
from samba.dsdb import DS_DOMAIN_FUNCTION_2008_R2
from samba.param import LoadParm
from samba.samdb import SamDB

# Enough for a slow run of a few seconds.
USERS = 2500


def main(folder, members):
    logging.basicConfig(level=logging.ERROR)
    samba.provision.provision(
        logging.getLogger("provision"), system_session(), smbconf=None, targetdir=folder, realm="EXAMPLE.COM", domain="EXAMPLE",
        hostname="dc1", hostip="127.0.0.1", hostip6=None, adminpass="Not-a-secret-1", serverrole="active directory domain controller",
        dns_backend="NONE", dom_for_fun_level=DS_DOMAIN_FUNCTION_2008_R2, use_ntvfs=False, useeadb=True, skip_sysvolacl=True)
    parameters = LoadParm()
    parameters.load(folder + "/etc/smb.conf")
    domain = SamDB(url=folder + "/private/sam.ldb", session_info=system_session(), lp=parameters)
    users = f"CN=Users,{domain.domain_dn()}"
    names = [f"user{number:05d}" for number in range(USERS)]
    domain.transaction_start()
    for name in names:
        domain.add({"dn": f"CN={name},{users}", "objectClass": "user", "sAMAccountName": name})
    domain.add({"dn": f"CN=everyone,{users}", "objectClass": "group", "sAMAccountName": "everyone"})
    domain.transaction_commit()
    with open(members, "w", encoding="ascii") as file:
        file.writelines(name + "\n" for name in names)


main(*sys.argv[1:])
