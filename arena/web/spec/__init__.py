"""The server describes itself: contracts that machines read, and a guide for agents."""
