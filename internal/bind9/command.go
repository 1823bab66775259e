package bind9

import (
	"fmt"
	"slices"
	"strings"
)

// A Command is one that named's control channel takes. It is made by the functions of this package, so that no argument
// can become two.
type Command struct {
	verb string
	zone string
	text string // verb and arguments as they are sent
}

// String names the command and its zone, for messages.
func (c Command) String() string {
	if c.zone == "" {
		return c.verb
	}
	return c.verb + " " + c.zone
}

// Verb is the command's first word.
func (c Command) Verb() string { return c.verb }

// The commands about the whole server, and those about one zone. None ends the server, and none shows a secret.
var (
	serverVerbs = []string{"status", "reload", "reconfig"}
	zoneVerbs   = []string{"zonestatus", "showzone", "delzone", "notify", "retransfer", "refresh", "reload", "freeze",
		"thaw", "sync", "loadkeys"}
)

// ServerCommand is a command about the whole server, such as status or reconfig.
func ServerCommand(verb string) (Command, error) {
	if !slices.Contains(serverVerbs, verb) {
		return Command{}, fmt.Errorf("%s is not a command for a whole server; commands are: %s", quoteShort(verb),
			strings.Join(serverVerbs, ", "))
	}
	return Command{verb: verb, text: verb}, nil
}

// ZoneCommand is a command about a zone, such as freeze.
func ZoneCommand(verb, zone string) (Command, error) {
	if !slices.Contains(zoneVerbs, verb) {
		return Command{}, fmt.Errorf("%s is not a command for a zone; commands are: %s", quoteShort(verb),
			strings.Join(zoneVerbs, ", "))
	}
	zone, err := checkZone(zone)
	if err != nil {
		return Command{}, err
	}
	return Command{verb: verb, zone: zone, text: verb + " " + quoteZone(zone)}, nil
}

// DeleteZone removes a zone that was added, and with clean its files too.
func DeleteZone(zone string, clean bool) (Command, error) {
	c, err := ZoneCommand("delzone", zone)
	if err == nil && clean {
		c.text = "delzone -clean " + quoteZone(c.zone)
	}
	return c, err
}

// AddZone makes named serve another zone; ModifyZone replaces all of its configuration.
func AddZone(zone string, z Zone) (Command, error) { return configureZone("addzone", zone, z) }

// ModifyZone replaces the configuration of a zone that was added.
func ModifyZone(zone string, z Zone) (Command, error) { return configureZone("modzone", zone, z) }

func configureZone(verb, zone string, z Zone) (Command, error) {
	zone, err := checkZone(zone)
	if err != nil {
		return Command{}, err
	}
	text, err := z.render()
	if err != nil {
		return Command{}, fmt.Errorf("the zone %s: %w", zone, err)
	}
	return Command{verb: verb, zone: zone, text: verb + " " + quoteZone(zone) + " " + text}, nil
}

// checkZone accepts names of zones, with '/' as RFC 2317 §4 puts it into reverse zones, and returns them without the
// last dot.
func checkZone(zone string) (string, error) {
	name := strings.TrimSuffix(zone, ".")
	for label := range strings.SplitSeq(name, ".") {
		if strings.HasPrefix(label, "/") || strings.HasSuffix(label, "/") || strings.Contains(label, "//") {
			return "", fmt.Errorf("the zone name %s has a '/' that is not between a letter or digit and another",
				quoteShort(zone))
		}
	}
	if err := checkName("zone name", strings.ReplaceAll(name, "/", "-")); err != nil {
		return "", err
	}
	return name, nil
}

// quoteZone keeps named's parser from taking '/' for the beginning of a comment.
func quoteZone(zone string) string { return `"` + zone + `"` }
