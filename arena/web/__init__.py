"""The doors that speak HTTP: routes, sockets, pages."""
