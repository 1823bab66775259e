package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Takes returns what checks the arguments of a command by their names; those in brackets may be left out. What it
// refuses it tells with the way out.
func Takes(names ...string) cobra.PositionalArgs {
	var needed []string
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			needed = append(needed, "a "+name)
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		switch {
		case len(args) < len(needed):
			return fmt.Errorf("%s needs %s; see %s --help", path, strings.Join(needed, " and "), path)
		case len(args) <= len(names):
			return notEmpty(cmd, args, names...)
		}
		err := fmt.Errorf("%s does not take %q", path, args[len(names)])
		if cmd.Flags().Lookup("filename") != nil {
			return fmt.Errorf("%w; name files and folders with -f, such as -f %s", err, args[len(names)])
		}
		return fmt.Errorf("%w; see %s --help", err, path)
	}
}

// notEmpty refuses arguments without text, such as those of a variable that a script has not set.
func notEmpty(cmd *cobra.Command, args []string, names ...string) error {
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			path := cmd.CommandPath()
			return fmt.Errorf("%s: the %s is empty; see %s --help", path, strings.Trim(names[min(i, len(names)-1)], "[]"), path)
		}
	}
	return nil
}

// TakesAny returns what checks the arguments of a command that takes any number of them, all of one name.
func TakesAny(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return notEmpty(cmd, args, name) }
}

// WrongFlag says of a flag that there is not, or that has no such value, where to read which there are.
func WrongFlag(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// KnownCommand refuses what is no command, and says which one may be meant.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if likely := cmd.SuggestionsFor(args[0]); len(likely) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(likely, " or "))
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// Clock returns the time that is meant. A serial of the form YYYYMMDD00 has room for
// the years that it takes.
func Clock(now time.Time, flag string) (time.Time, error) {
	if flag == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, flag)
	if err != nil {
		return at, fmt.Errorf("--now %q is not a time like 2026-01-31T12:00:00Z", flag)
	}
	if year := at.UTC().Year(); year < 1970 || year > 4293 {
		return at, fmt.Errorf("--now %q is not in the years 1970 to 4293, which serials can express", flag)
	}
	return at, nil
}

// ZoneName reads the value of --zone; the trailing dot may be missing.
func ZoneName(flag string) (dnsname.Name, error) {
	if flag == "" {
		return dnsname.Name{}, nil
	}
	if !strings.HasSuffix(flag, ".") {
		flag += "."
	}
	name, err := dnsname.Parse(flag)
	if err != nil {
		return name, fmt.Errorf("--zone: %w", err)
	}
	return name, nil
}

// Origin reads the name of a zone; the trailing dot may be missing.
func Origin(text string) (dnsname.Name, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(text, ".") + ".")
	switch {
	case text == "":
		return name, errors.New("name the zone, such as --origin example.org")
	case err != nil:
		return name, fmt.Errorf("the zone %q: %w", text, err)
	case name.IsWildcard():
		return name, fmt.Errorf("%s is a wildcard, at which no zone can start (RFC 4592 §4.2)", name)
	}
	if err := dnsname.CheckOwner(name); err != nil {
		return name, fmt.Errorf("no Zone can be %s: %w", name, err)
	}
	return name, nil
}

// Running returns a clock that shows a time now, and runs as fast as the machine's.
func Running(at time.Time) func() time.Time {
	var clock backend.SystemClock
	begin := clock.Now()
	return func() time.Time { return at.Add(clock.Now().Sub(begin)) }
}
