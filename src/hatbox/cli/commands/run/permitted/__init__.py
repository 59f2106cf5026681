"""Scripts with explicit permissions: each runs in a process of its own, which has a `browser` and no profile.

In the process of the command: `permitted_script` starts the script (`script_process`, `script_sandbox`), serves its
calls (`script_bridge`) and ends with it. In the process of the script: `script_main`, `profile_connection`.
"""
