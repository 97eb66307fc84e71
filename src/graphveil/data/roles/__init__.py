"""What the columns of a table are about: a proposed role for each, with its reason."""

from graphveil.data.roles.proposal import ColumnValues as ColumnValues
from graphveil.data.roles.proposal import ProposedRole as ProposedRole
from graphveil.data.roles.proposal import Role as Role
from graphveil.data.roles.proposal import proposed_role as proposed_role
