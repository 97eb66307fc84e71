"""A local page for who does not use a command line: every screen runs a command, and names it.

The way: `command` parses the flags and opens the port; `guard` lets nobody in but the browser that
has the token; `screens` answers; `forms` makes a form of a command's flags, and words of what was
filled in; `jobs` runs the words, one command at a time; `folder` keeps all paths inside one folder.
Nothing here reads, anonymizes or measures: commands do.
"""
