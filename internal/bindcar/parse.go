package bindcar

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// Usage is what is told about the command line.
const Usage = `usage: bindcar [run|drone] [-d|--debug] [--i-know-this-is-insecure]
       bindcar -V|--version[=json]

  run    beside BIND, in its pod (the default)
  drone  for a BIND elsewhere; BIND_ZONE_DIR must name a directory that both share at the same path
`

// A mode is what the command line says.
type mode struct {
	drone, debug, insecure bool
}

// ParseSettings reads the command line and the environment. The names of variables are those of the existing bindcar;
// docs/bindcar.md lists them. What would leave the API open by oversight is an error.
func ParseSettings(args []string, env func(string) string) (Settings, error) {
	m, err := parseMode(args, env)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{
		ZoneDir: orElse(env("BIND_ZONE_DIR"), defaultZoneDir), LogLevel: orElse(env("RUST_LOG"), "info"), UpdateACL: env(
			"BINDCAR_UPDATE_ACL"),
		Pod:    env("POD_UID"),
		Listen: net.JoinHostPort(orElse(env("BIND_API_ADDRESS"), defaultListen), orElse(env("API_PORT"), defaultPort)),
	}
	if m.debug {
		s.LogLevel = "debug"
	}
	if m.drone && env("BIND_ZONE_DIR") == "" {
		return s, errors.New("drone: BIND_ZONE_DIR is not set; BIND reads zones from files, so name a directory that BIND " +
			"and bindcar share at the same path")
	}
	if host, _, err := net.SplitHostPort(env("RNDC_SERVER")); m.drone && err == nil {
		s.DNS = host // the default for NSUPDATE_SERVER
	}
	if s.UpdateACL != "" {
		if _, err := bind9.ListElement(s.UpdateACL); err != nil {
			return s, fmt.Errorf("BINDCAR_UPDATE_ACL: %w", err)
		}
	}
	for _, part := range []func(*Settings, func(string) string) error{parseSwitches, parseBIND, parseUpdates, parseLimit,
		parseAuth} {
		if err := part(&s, env); err != nil {
			return s, err
		}
	}
	return s, s.exposed(m)
}

func parseMode(args []string, env func(string) string) (mode, error) {
	var m mode
	command := ""
	for _, arg := range args {
		switch {
		case arg == "-d", arg == "--debug":
			m.debug = true
		case arg == "--i-know-this-is-insecure":
			m.insecure = true
		case command == "" && (arg == "run" || arg == "drone"):
			command = arg
		default:
			return m, fmt.Errorf("%s is neither a command nor a flag\n%s", clip(arg), Usage)
		}
	}
	m.drone = command == "drone"
	insecure, err := boolean(env, "BINDCAR_ALLOW_INSECURE_AUTH", false)
	m.insecure = m.insecure || insecure
	return m, err
}

// exposed refuses to listen where others can reach an API that asks no client who it is.
func (s Settings) exposed(m mode) error {
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("BIND_API_ADDRESS and API_PORT: %w", err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("BIND_API_ADDRESS: %s is not an IP address", clip(host))
	}
	if s.Token != "" || s.Review != nil || ip.IsLoopback() || m.insecure {
		return nil
	}
	return fmt.Errorf("authentication is disabled and the API would listen on %s, where everyone can reach it; set "+
		"BIND_API_ADDRESS to 127.0.0.1, "+
		"or, if something in front of it authenticates, give --i-know-this-is-insecure (BINDCAR_ALLOW_INSECURE_AUTH=true)",
		s.Listen)
}

func parseSwitches(s *Settings, env func(string) string) (err error) {
	if s.RequireContent, err = boolean(env, "BINDCAR_REQUIRE_CONTENT", false); err != nil {
		return err
	}
	if text := env("BINDCAR_LEAVE_SECS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return fmt.Errorf("BINDCAR_LEAVE_SECS: %s is not a number of seconds from 0 to 65535", clip(text))
		}
		s.LeaveFor = time.Duration(n) * time.Second
	}
	s.Docs, err = boolean(env, "BIND_ENABLE_DOCS", false)
	return err
}

// parseBIND finds out where BIND's control channel is and by which key it knows us.
func parseBIND(s *Settings, env func(string) string) error {
	s.RNDC = orElse(env("RNDC_SERVER"), defaultRNDC)
	switch {
	case env("RNDC_KEY_FILE") != "":
		s.Keys.File = env("RNDC_KEY_FILE")
	case env("RNDC_SECRET") != "":
		key, err := parseKey(orElse(env("RNDC_KEY_NAME"), defaultKeyName), orElse(env("RNDC_ALGORITHM"), "sha256"),
			env("RNDC_SECRET"))
		if err != nil {
			return fmt.Errorf("RNDC_SECRET and RNDC_ALGORITHM: %w", err)
		}
		s.Keys.Static = []bind9.Key{key}
	default:
		if err := parseRNDCConf(s, env); err != nil {
			return err
		}
	}
	if host, port, err := net.SplitHostPort(s.RNDC); err != nil || host == "" || port == "" {
		s.RNDC = net.JoinHostPort(strings.Trim(s.RNDC, "[]"), "953")
	}
	return nil
}

// parseRNDCConf reads rndc.conf where nothing else says.
func parseRNDCConf(s *Settings, env func(string) string) error {
	for _, name := range []string{"/etc/bind/rndc.conf", "/etc/rndc.conf"} {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		conf, err := bind9.ParseClientConfig(name, func(file string) ([]byte, error) {
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(name), file)
			}
			return os.ReadFile(file)
		})
		if err != nil {
			return err
		}
		s.Keys.Static = conf.OrderedKeys()
		if conf.DefaultServer != "" && env("RNDC_SERVER") == "" {
			port := 953
			if conf.DefaultPort != 0 {
				port = int(conf.DefaultPort)
			}
			s.RNDC = net.JoinHostPort(conf.DefaultServer, strconv.Itoa(port))
		}
		if len(s.Keys.Static) > 0 {
			return nil
		}
	}
	return errors.New(
		"there is no key for BIND's control channel: set RNDC_KEY_FILE or RNDC_SECRET, or write /etc/bind/rndc.conf")
}

// parseUpdates finds out where updates go and what signs them: NSUPDATE_*, and what is missing there from the control
// channel. Updates go over TCP, whatever NSUPDATE_TCP says.
func parseUpdates(s *Settings, env func(string) string) error {
	s.DNS = net.JoinHostPort(orElse(env("NSUPDATE_SERVER"), orElse(s.DNS, "127.0.0.1")),
		orElse(env("NSUPDATE_PORT"), "53"))
	if env("NSUPDATE_SECRET") == "" {
		return nil
	}
	key, err := parseKey(orElse(env("NSUPDATE_KEY_NAME"), orElse(env("RNDC_KEY_NAME"), defaultKeyName)),
		orElse(env("NSUPDATE_ALGORITHM"), "sha256"), env("NSUPDATE_SECRET"))
	if err != nil {
		return fmt.Errorf("NSUPDATE_SECRET, NSUPDATE_KEY_NAME and NSUPDATE_ALGORITHM: %w", err)
	}
	s.UpdateKey = &key
	return nil
}

func parseKey(name, algorithm, secret string) (bind9.Key, error) {
	a, err := bind9.ParseAlgorithm(strings.TrimSpace(algorithm))
	if err != nil {
		return bind9.Key{}, err
	}
	key := bind9.Key{Name: name, Algorithm: a, Secret: strings.TrimSpace(secret)}
	return key, key.Validate()
}

func parseLimit(s *Settings, env func(string) string) (err error) {
	s.Limit = DefaultLimit()
	if s.Limit.Enabled, err = boolean(env, "RATE_LIMIT_ENABLED", true); err != nil {
		return err
	}
	period := int(defaultPeriod / time.Second)
	for name, into := range map[string]*int{"RATE_LIMIT_REQUESTS": &s.Limit.Requests, "RATE_LIMIT_PERIOD_SECS": &period,
		"RATE_LIMIT_BURST": &s.Limit.Burst} {
		text := env(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%s is %s; it must be a number of 1 or more", name, clip(text))
		}
		*into = int(n)
	}
	s.Limit.Period = time.Duration(period) * time.Second
	return nil
}

func orElse(given, otherwise string) string {
	if given != "" {
		return given
	}
	return otherwise
}

func boolean(env func(string) string, name string, otherwise bool) (bool, error) {
	text := env(name)
	if text == "" {
		return otherwise, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s is %s and must be true or false", name, clip(text))
	}
	return b, nil
}
