"""The MCP doors: `/api/arena/mcp` and `/api/chat/mcp` as the protocol has them, and `/mcp` for agents, by the SDK.

`tools` says what a tool is; `protocol` and `agents` have the tools; `rpc` and `door` carry the protocol's, `sdk` and
`entrance` those for agents. Nothing but `sdk` imports the SDK, which is large.
"""
