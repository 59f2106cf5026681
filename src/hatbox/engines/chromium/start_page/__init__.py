"""The start page: what a blank tab of the user shows. Whose window it is, its tabs, its rules, the extension buttons.

It is drawn in the closed shadow root of about:blank, in the isolated world of the engine. Nothing is served, so no web
page can open it or embed it, and no script of an extension runs in it.
"""
