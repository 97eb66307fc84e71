"""What a page on this machine stands on: one folder, a guarded server, and commands that it runs.

The way: `folder` keeps all paths inside one folder; `server` takes an ASGI application and lets
nobody in but the browser that has the token; `jobs` runs one command at a time. Nothing here reads,
anonymizes or measures.
"""
