package bindcar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// A control gives commands to BIND and counts them.
type control struct {
	client  *bind9.Client
	metrics *Metrics
	now     func() time.Time
}

// commandTimeout bounds a command that a caller waits for. Loading a large zone takes its time.
const commandTimeout = 30 * time.Second

func newControl(o Options) *control {
	return &control{
		client: &bind9.Client{Address: o.Settings.RNDC, Keys: o.Settings.Keys.current, Now: o.Now, Timeout: commandTimeout},
		now:    o.Now,
	}
}

func (c *control) do(ctx context.Context, command bind9.Command, err error) (string, error) {
	if err != nil {
		return "", invalid("%v", err)
	}
	began := c.now()
	text, err := c.client.Do(ctx, command)
	c.metrics.command(command.Verb(), err, c.now().Sub(began))
	return text, err
}

func (c *control) server(ctx context.Context, verb string) (string, error) {
	command, err := bind9.ServerCommand(verb)
	return c.do(ctx, command, err)
}

func (c *control) zone(ctx context.Context, verb string, zone zoneName) (string, error) {
	command, err := bind9.ZoneCommand(verb, zone.text())
	return c.do(ctx, command, err)
}

// errOther says that BIND has a zone which is neither primary nor secondary, such as one that is forwarded.
var errOther = errors.New("the zone is of a type that is not managed here")

// show returns how BIND has a zone.
func (c *control) show(ctx context.Context, zone zoneName) (bind9.Zone, error) {
	text, err := c.zone(ctx, "showzone", zone)
	if err != nil {
		return bind9.Zone{}, err
	}
	_, z, err := bind9.ParseZone(text)
	if err != nil {
		return bind9.Zone{}, fmt.Errorf("%w: %w", errOther, err)
	}
	return z, nil
}
