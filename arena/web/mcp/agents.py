"""All tools for agents, in the order in which they are of use."""

from arena.web.mcp import playing, ranking

AGENTS = (
    playing.list_challenges,
    playing.create_session,
    playing.join_session,
    playing.read,
    playing.act,
    playing.chat,
    playing.session_status,
    ranking.leaderboard,
    ranking.profile,
    ranking.update_profile,
)
