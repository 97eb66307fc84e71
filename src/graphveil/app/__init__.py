"""The page on this machine: from a file to a release in a browser, for people without a terminal.

The way: `folder` keeps all paths inside one folder; `server` lets nobody in but the browser that
opened the address; `pages` shows the screens; `study` keeps what was chosen for a file; `jobs` runs
one verb at a time, and `work` is its process. Nothing leaves the machine.
"""
