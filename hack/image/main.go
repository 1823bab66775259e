// Command image makes container images without a container engine, as OCI archives, one file an image:
//
//	go run ./hack/image                          all of them into dist/
//	go run ./hack/image -out DIR bind9 bindcar   these, into another folder
//	go run ./hack/image -tag bind9=9.18.1 bind9  under a second name too
//
// The programs of this repository are compiled into images that hold nothing else but certificates. BIND comes from the
// Debian packages of this machine, with what it loads and no shell. The same input gives the same digest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/zonefold/zonefold/hack/compile"
)

// repository is what the names of all images begin with, as containerd and Docker write it out in full.
const repository = "docker.io/zonefold/"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	out       string
	stamp     compile.Stamp // of what is compiled; its version is the tag of its images
	created   time.Time     // when images were made, as they say
	platforms []v1.Platform
	tags      map[string][]string // more tags, by image
	certs     string              // the file of the public authorities
	images    []string
}

func run(ctx context.Context, args []string, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	for _, name := range o.images {
		if err := write(ctx, o, name, log); err != nil {
			return fmt.Errorf("making the image %s: %w", name, err)
		}
	}
	return nil
}

// write makes one image and puts its archive where the options say.
func write(ctx context.Context, o options, name string, log io.Writer) error {
	made, err := makers()[name](ctx, o)
	if err != nil {
		return err
	}
	names := []string{repository + name + ":" + made.tag}
	for _, tag := range o.tags[name] {
		names = append(names, repository+name+":"+tag)
	}
	path := filepath.Join(o.out, name+".tar")
	digest, err := archive(path, made.index, names)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: %s for %s, %s\n", path, strings.Join(names, ", "), made.platforms, digest)
	return nil
}

// An image that is made, and the tag that it has of itself.
type image struct {
	index     v1.ImageIndex
	tag       string
	platforms string
}

// makers has every image.
func makers() map[string]func(context.Context, options) (image, error) {
	all := map[string]func(context.Context, options) (image, error){"bind9": bind}
	for _, p := range programs() {
		all[p.name] = p.make
	}
	return all
}

func parse(args []string, log io.Writer) (options, error) {
	o := options{tags: map[string][]string{}, created: time.Unix(0, 0)}
	all := slices.Sorted(maps.Keys(makers()))
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprintf(log, "usage: go run ./hack/image [flags] [%s]...\n", strings.Join(all, " | "))
		flags.PrintDefaults()
	}
	flags.StringVar(&o.out, "out", "dist", "the `folder` of the archives")
	flags.StringVar(&o.stamp.Version, "version", "dev",
		"the version of the programs, and the tag of their images")
	flags.StringVar(&o.stamp.Commit, "commit", "", "the `commit` that they are of, as they say (default: they say none)")
	flags.Func("date", "the `time` of the commit, in RFC 3339, which images are as old as (default: 1970)",
		func(value string) (err error) {
			o.stamp.Date = value
			o.created, err = time.Parse(time.RFC3339, value)
			return err
		})
	flags.StringVar(&o.certs, "certs", "/etc/ssl/certs/ca-certificates.crt",
		"the `file` with the certificates of the public authorities")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64",
		"what the programs are compiled for; bind9 is always this machine's")
	flags.Func("tag", "`NAME=TAG`: one more tag for the image NAME (repeatable)", func(value string) error {
		name, tag, _ := strings.Cut(value, "=")
		if !slices.Contains(all, name) {
			return fmt.Errorf("no image is called %q; there are %s", name, strings.Join(all, ", "))
		}
		o.tags[name] = append(o.tags[name], tag)
		return checkTag(tag)
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for platform := range strings.SplitSeq(*platforms, ",") {
		parsed, err := v1.ParsePlatform(platform)
		if err != nil || parsed.OS != "linux" || parsed.Architecture == "" {
			return o, fmt.Errorf("-platforms has %q; images are for linux/ARCHITECTURE", platform)
		}
		o.platforms = append(o.platforms, *parsed)
	}
	o.images = flags.Args()
	if len(o.images) == 0 {
		o.images = all
	}
	for _, name := range o.images {
		if !slices.Contains(all, name) {
			return o, fmt.Errorf("no image is called %q; there are %s (flags come before the names)", name, strings.Join(all,
				", "))
		}
	}
	return o, checkTag(o.stamp.Version)
}

// checkTag holds tags to the grammar of the OCI distribution specification.
func checkTag(tag string) error {
	if !regexp.MustCompile(`^\w[\w.-]{0,127}$`).MatchString(tag) {
		return fmt.Errorf("%q cannot be a tag: letters, digits, _ . -, at most 128", tag)
	}
	return nil
}
