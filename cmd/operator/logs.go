package main

import (
	"errors"
	"flag"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logOptions say what is logged, and how.
type logOptions struct {
	verbose bool
	format  logFormat
}

// logFormat is how a line of the log is written.
type logFormat string

const (
	logJSON logFormat = "json"
	logText logFormat = "text"
)

// String implements flag.Value.
func (f *logFormat) String() string { return string(*f) }

// Set implements flag.Value.
func (f *logFormat) Set(s string) error {
	if *f = logFormat(s); *f != logJSON && *f != logText {
		return errors.New("it must be json or text")
	}
	return nil
}

func logFlags(f *flag.FlagSet, o *logOptions) {
	o.format = logJSON
	f.BoolVar(&o.verbose, "verbose", false, "also log the steps of the operator, not only events")
	f.Var(&o.format, "log-format", "format of the log: `json` or text")
}

// handler writes the log.
func (o logOptions) handler(to io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if o.verbose {
		options.Level = slog.LevelDebug
	}
	if o.format == logText {
		return slog.NewTextHandler(to, options)
	}
	return slog.NewJSONHandler(to, options)
}

// logLibraries has everything that libraries say be in the log.
func logLibraries(log *slog.Logger) {
	all := logr.FromSlogHandler(log.Handler())
	slog.SetDefault(log) // what they say without being asked
	ctrl.SetLogger(all)
	otel.SetLogger(all)
	klog.SetSlogLogger(log)
}
