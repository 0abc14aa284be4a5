"""A schema with a key and references to it, and a list of advisories that is valid by it."""

SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
 <xs:element name="advisories">
  <xs:complexType><xs:sequence>
   <xs:element name="package" maxOccurs="unbounded">
    <xs:complexType><xs:attribute name="id" type="xs:string" use="required"/></xs:complexType>
   </xs:element>
   <xs:element name="advisory" maxOccurs="unbounded">
    <xs:complexType><xs:attribute name="package" type="xs:string" use="required"/></xs:complexType>
   </xs:element>
  </xs:sequence></xs:complexType>
  <xs:key name="package"><xs:selector xpath="package"/><xs:field xpath="@id"/></xs:key>
  <xs:keyref name="of" refer="package"><xs:selector xpath="advisory"/><xs:field xpath="@package"/></xs:keyref>
 </xs:element>
</xs:schema>
"""
PACKAGES = 7_000

with open("advisories.xsd", "w") as file:
    file.write(SCHEMA)
with open("advisories.xml", "w") as file:
    file.write("<advisories>\n")
    for number in range(PACKAGES):
        file.write(f'<package id="pkg-{number}"/>\n')
    for number in range(PACKAGES):
        file.write(f'<advisory package="pkg-{number * 7919 % PACKAGES}"/>\n')
    file.write("</advisories>\n")
