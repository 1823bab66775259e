// Command acceptance starts what a suite of acceptance tests needs that is a module of its own, and so cannot import
// the packages which start it: a Kubernetes control plane with the rights and the admission that the chart gives the
// operator, the operator's binary, a BIND and a PowerDNS with empty zones, which all are real, and a server that
// behaves as Route 53 does, at the rate of that. All of it listens on loopback only.
//
//	go run ./hack/acceptance -values dialects.gardener=true -zone example.com.
//
// When everything answers it prints one line of JSON that says where, and then takes commands, a line each, from its
// standard input, and answers each with "ok" and what is asked for, or with what is wrong: "stop powerdns", "start
// powerdns", "stop bind", "start bind", and those of aws.go. At the end of its input it ends everything and removes
// what was written.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	s := &site{log: os.Stderr}
	flags := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	flags.StringVar(&s.values, "values", "", "what to `set` of the chart's values, separated by commas")
	flags.Func("zone", "serve this empty `zone` (repeatable)", func(name string) error {
		s.zones = append(s.zones, name)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("it takes no arguments, and was given %q", flags.Args())
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(s.where); err != nil {
		return err
	}
	return s.obey(ctx, os.Stdin, os.Stdout)
}

// obey carries out commands until there are no more.
func (s *site) obey(ctx context.Context, in io.Reader, out io.Writer) error {
	commands := make(chan string)
	go func() {
		defer close(commands)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			commands <- lines.Text()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case command, more := <-commands:
			if !more {
				return nil
			}
			answer, err := s.carryOut(ctx, command)
			if answer = strings.TrimSpace("ok " + answer); err != nil {
				answer = strings.ReplaceAll(err.Error(), "\n", " ")
			}
			if _, err := fmt.Fprintln(out, answer); err != nil {
				return err
			}
		}
	}
}

func (s *site) carryOut(ctx context.Context, command string) (string, error) {
	what, which, _ := strings.Cut(command, " ")
	if what == "aws" {
		return s.aws.carryOut(strings.Fields(which))
	}
	server := s.bind
	switch which {
	case "bind":
	case "powerdns":
		server = s.powerdns.Server
	default:
		return "", fmt.Errorf("there is no server %q", which)
	}
	switch what {
	case "stop":
		return "", server.Stop()
	case "start":
		return "", server.Start(ctx)
	}
	return "", fmt.Errorf("there is no command %q", what)
}
