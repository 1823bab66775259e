package attack

func fromServers() []attempt { return nil }
