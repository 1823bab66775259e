package bind9

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Bounds of a command: rndc's own time-out, and how long named is to think a message valid (RFC 8945's fudge is as
// long).
const (
	commandTimeout = 60 * time.Second
	messageLife    = 60 * time.Second
)

// A Client gives commands to named over its control channel, as rndc does. Each command has a connection of its own;
// the methods are safe for concurrent use. named serves one command at a time.
type Client struct {
	// Address of the control channel, host and port.
	Address string
	// Keys are asked for each command, and tried in their order until named knows one. A key that worked and is no longer
	// among them is tried last: while keys change, named has to be told of the new ones with an old one.
	Keys func() ([]Key, error)
	// Now is the clock, which may not be nil; named refuses messages that are more than 5 minutes off.
	Now func() time.Time
	// Timeout is for one command with everything; zero is 60 s, as rndc has it. Loading a large zone takes as long as it
	// takes.
	Timeout time.Duration

	worked atomic.Pointer[Key]
}

// Do gives one command and returns named's text. When named refuses, the error is a *CommandError; when no key is
// accepted, it is ErrUnauthorized; when it cannot be reached or ends before it answers, ErrUnavailable. A command that
// got no answer may have been carried out.
func (c *Client) Do(ctx context.Context, command Command) (string, error) {
	if command.text == "" {
		return "", errors.New("rndc: the command is empty")
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = commandTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("named did not answer within %s", timeout))
	defer cancel()
	text, err := c.withKeys(ctx, command)
	if err != nil {
		return "", fmt.Errorf("rndc %s: %w", command, err)
	}
	return text, nil
}

func (c *Client) withKeys(ctx context.Context, command Command) (string, error) {
	keys, err := c.candidates()
	if err != nil {
		return "", err
	}
	var refused error
	for _, k := range keys {
		text, err := c.withKey(ctx, k, command)
		switch {
		case refused == nil && errors.Is(err, ErrUnauthorized):
			refused = err
			continue
		case errors.Is(err, ErrUnauthorized):
			refused = fmt.Errorf("%w; nor does it accept %s", refused, k)
			continue
		case err == nil || errors.As(err, new(*CommandError)):
			c.worked.Store(&k)
		}
		return text, err
	}
	return "", refused
}

// Accepts reports whether named takes commands with this key, which need not be one of c.Keys. It changes nothing.
func (c *Client) Accepts(ctx context.Context, k Key) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	conn, err := c.open(ctx, k)
	if errors.Is(err, ErrUnauthorized) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("rndc: trying the key %q: %w", k.Name, err)
	}
	conn.close()
	return true, nil
}

// candidates are the keys to try.
func (c *Client) candidates() ([]Key, error) {
	keys, err := c.Keys()
	if err != nil {
		return nil, fmt.Errorf("%w: reading the keys: %w", ErrUnauthorized, err)
	}
	if last := c.worked.Load(); last != nil && !slices.Contains(keys, *last) {
		keys = append(slices.Clone(keys), *last)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: there is no key to sign with", ErrUnauthorized)
	}
	return keys, nil
}

func (c *Client) withKey(ctx context.Context, k Key, command Command) (string, error) {
	conn, err := c.open(ctx, k)
	if err != nil {
		return "", err
	}
	defer conn.close()
	reply, err := conn.ask(command.text)
	if err != nil {
		if errors.Is(err, errSignature) {
			return "", fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		return "", err
	}
	return outcome(command, reply)
}

// A connection has shown that named knows the key.
type connection struct {
	net   net.Conn
	ctx   context.Context
	stop  func() bool
	key   Key
	now   func() time.Time
	ser   uint32
	nonce string
}

// open connects and fetches the nonce that commands have to bear. named closes the connection without a word on a
// message that it cannot verify.
func (c *Client) open(ctx context.Context, k Key) (*connection, error) {
	if err := k.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: connecting: %w", ErrUnavailable, causeOr(ctx, err))
	}
	conn := &connection{net: raw, ctx: ctx, key: k, now: c.Now, ser: firstSerial()}
	conn.stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
	reply, err := conn.ask("null")
	switch {
	case err == nil:
		conn.nonce = reply.text("_ctrl", "_nonce")
		return conn, nil
	case errors.Is(err, errClosed) || errors.Is(err, errSignature):
		err = fmt.Errorf(
			"%w: %s is not among its keys, or its clock differs by more than 5 minutes, or it accepts no commands from here",
			ErrUnauthorized, k)
	}
	conn.close()
	return nil, err
}

// firstSerial differs between connections: named drops what has the serial and second of another message.
func firstSerial() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}

func (c *connection) close() {
	c.stop()
	_ = c.net.Close()
}

// errClosed says that named closed the connection instead of an answer.
var errClosed = errors.New("named closed the connection without an answer")

// ask sends one message and reads the reply to it.
func (c *connection) ask(command string) (table, error) {
	now := c.now()
	c.ser++
	serial := strconv.FormatUint(uint64(c.ser), 10)
	ctrl := []field{{"_ser", serial}, {"_tim", unix(now)}, {"_exp", unix(now.Add(messageLife))}}
	if c.nonce != "" {
		ctrl = append(ctrl, field{"_nonce", c.nonce})
	}
	message, err := encode(c.key, []field{{"_ctrl", ctrl}, {"_data", []field{{"type", command}}}})
	if err != nil {
		return nil, err
	}
	answer, err := c.exchange(message)
	if err != nil {
		return nil, err
	}
	reply, err := decode(c.key, answer)
	switch {
	case errors.Is(err, errSignature):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	case reply.text("_ctrl", "_ser") != serial || reply.text("_ctrl", "_rpl") != "1":
		return nil, fmt.Errorf("%w: the reply belongs to another message", ErrProtocol)
	}
	return reply, nil
}

func (c *connection) exchange(message []byte) ([]byte, error) {
	err := writeMessage(c.net, message)
	var answer []byte
	if err == nil {
		answer, err = readMessage(c.net)
	}
	switch {
	case err == nil:
		return answer, nil
	case c.ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(c.ctx))
	case errors.Is(err, io.EOF) || isReset(err):
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, errClosed)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// causeOr tells why a context ended, if it did: "operation was canceled" helps nobody.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
