package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
)

// A cloud is what behaves as Route 53, with accounts of one user each. Its commands name an account by its user's
// access key:
//
//	aws account              a new one; the answer is its access key and the secret of that
//	aws rotate KEY           another access key; the answer is that and its secret
//	aws deny KEY OPERATION   the user's policies allow that no more
//	aws busy KEY yes         others use up the rate of the account; "no" ends it
//	aws zone KEY NAME KIND   a new hosted zone, public or private; the answer is its ID
//	aws remove ID            the hosted zone is gone
//	aws look ID NAME TYPE    what it holds: the TTL and the values, of what it is an alias, or nothing
type cloud struct {
	server *route53test.Server
	users  map[string]*route53test.User
}

func startCloud(ctx context.Context) (*cloud, error) {
	server, err := route53test.Start(ctx, route53test.Options{Now: time.Now, Delay: 200 * time.Millisecond, Rate: 5,
		Burst: 5})
	return &cloud{server, map[string]*route53test.User{}}, err
}

// carryOut carries out one command.
func (c *cloud) carryOut(words []string) (string, error) {
	switch {
	case len(words) == 1 && words[0] == "account":
		return c.welcome(c.server.NewAccount().NewUser("zonefold")), nil
	case len(words) == 2 && words[0] == "remove":
		c.server.RemoveZone(words[1])
		return "", nil
	case len(words) == 4 && words[0] == "look":
		return c.look(words[1], words[2], words[3])
	case len(words) < 2 || c.users[words[1]] == nil:
		return "", fmt.Errorf("there is no command aws %q, or no such user", words)
	}
	user := c.users[words[1]]
	switch fmt.Sprint(words[0], len(words)) {
	case "rotate2":
		delete(c.users, words[1])
		user.Rotate()
		return c.welcome(user), nil
	case "deny3":
		user.Deny(words[2])
		return "", nil
	case "busy3":
		user.Account().Exhaust(words[2] == "yes")
		return "", nil
	case "zone4":
		return user.Account().AddZone(words[2], words[3] == "private"), nil
	}
	return "", fmt.Errorf("there is no command aws %q", words)
}

func (c *cloud) welcome(u *route53test.User) string {
	c.users[u.AccessKeyID] = u
	return u.AccessKeyID + " " + u.SecretAccessKey
}

func (c *cloud) look(id, name, kind string) (string, error) {
	sets, ok := c.server.Sets(id)
	if !ok {
		return "", errors.New("there is no such hosted zone")
	}
	for _, set := range sets {
		switch {
		case set.Name != strings.TrimSuffix(name, ".")+"." || set.Type != kind:
		case set.AliasTarget != nil:
			return "alias of " + set.AliasTarget.DNSName, nil
		default:
			return fmt.Sprint(*set.TTL, " ", strings.Join(set.Records, ", ")), nil
		}
	}
	return "", nil
}
