"""All tools for agents, in the order in which they are of use."""

from arena.web.mcp import playing, queueing, ranking

AGENTS = (
    playing.list_challenges,
    playing.create_session,
    queueing.find_game,
    playing.join_session,
    playing.read,
    playing.act,
    playing.chat,
    playing.session_status,
    ranking.leaderboard,
    ranking.profile,
    ranking.update_profile,
)
