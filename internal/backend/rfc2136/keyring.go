package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/miekg/dns"
)

// Keys are the keys of one server: one to write with and, where another may read, one to read with.
type Keys struct {
	Update Key
	Read   Key // the zero Key: Update
}

// A purpose is what a connection is used for, which decides about the key.
type purpose uint8

const (
	reading purpose = iota
	writing
)

// A keyring has the signers of the keys of now.
type keyring struct {
	current func() (Keys, error) // nil: they stay as they were set

	mu      sync.Mutex
	keys    Keys
	signers [2]*signer // by purpose; nil: not made yet
}

// signer returns the one for a purpose. A key that cannot be had or used is like one that the server does not know.
func (k *keyring) signer(why purpose) (*signer, error) {
	if k.current != nil {
		keys, err := k.current()
		if err == nil {
			err = k.set(keys)
		}
		if err != nil {
			return nil, notAuthorised("", fmt.Errorf("reading the TSIG keys: %w", err))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signers[why], nil
}

func (k *keyring) set(keys Keys) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if keys == k.keys && k.signers[writing] != nil {
		return nil
	}
	update, err := newSigner(keys.Update)
	read := update
	if err == nil && keys.Read != (Key{}) {
		read, err = newSigner(keys.Read)
	}
	if err != nil {
		return err
	}
	k.keys, k.signers = keys, [2]*signer{reading: &read, writing: &update}
	return nil
}

// Prove has the server show that it knows the key for updates, by an answer that is signed with it, whatever it says.
// Who has taken the address of the server does not know the key.
func (c *Client) Prove(ctx context.Context) error {
	err := c.talk(ctx, writing, func(link *conn) error {
		m := new(dns.Msg)
		m.SetQuestion(".", dns.TypeSOA)
		m.RecursionDesired = false
		answer, err := c.exchange(link, m)
		if err == nil && link.key.Signs() && answer.IsTsig() == nil {
			err = notAuthorised(rcodeName(answer.Rcode), errors.New("the answer is not signed, although the request was"))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("checking that %s knows the key: %w", c.server, err)
	}
	return nil
}
