package bindcar

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/bind9"
)

// serverKeys tries each key of the key files with BIND: on its control channel, and with a signed query.
func (s *Server) serverKeys(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	keys, err := s.settings.Keys.current()
	if err != nil {
		return 0, nil, internal("reading our keys", err)
	}
	transfer, err := s.settings.Keys.transfer()
	if err != nil {
		return 0, nil, internal("reading the keys for transfers", err)
	}
	list := KeyList{Keys: []KeyStatus{}}
	for _, key := range keys {
		control, err := s.control.client.Accepts(r.Context(), key)
		if err != nil {
			return 0, nil, unavailable("trying a key", err)
		}
		signed, err := s.acceptsSigned(r.Context(), key)
		if err != nil {
			return 0, nil, unavailable("trying a key", err)
		}
		list.Keys = append(list.Keys, KeyStatus{Name: key.Name, ID: key.ID(), Control: control, DNS: signed})
	}
	for _, key := range transfer {
		signed, err := s.acceptsSigned(r.Context(), key)
		if err != nil {
			return 0, nil, unavailable("trying a key for transfers", err)
		}
		list.Transfer = append(list.Transfer, KeyStatus{Name: key.Name, ID: key.ID(), DNS: signed})
	}
	return http.StatusOK, list, nil
}

// acceptsSigned reports whether BIND answers a signed query with its own signature; with what code does not matter.
func (b *bind) acceptsSigned(ctx context.Context, key bind9.Key) (bool, error) {
	m := new(dns.Msg)
	m.SetQuestion(".", dns.TypeSOA)
	m.RecursionDesired = false
	answer, err := b.exchange(ctx, m, key)
	if answer == nil {
		return false, err
	}
	tsig := answer.IsTsig() // an error that comes with an answer is about its signature
	return err == nil && tsig != nil && tsig.Error == dns.RcodeSuccess, nil
}

// exchange sends one signed message over a TCP connection of its own.
func (b *bind) exchange(ctx context.Context, m *dns.Msg, key bind9.Key) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", b.settings.DNS)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	name := dns.CanonicalName(key.Name)
	m.SetTsig(name, dns.Fqdn(string(key.Algorithm)), 300, b.now().Unix())
	client := dns.Client{Net: "tcp", TsigSecret: map[string]string{name: key.Secret}, Timeout: 10 * time.Second}
	answer, _, err := client.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: raw})
	return answer, err
}

// How the key file is followed. Kubernetes replaces all files of a volume at once, by renaming a link that lies above
// them, so folders are watched, and what is in them is compared. Now and then they are looked at without being told.
const (
	lookAgain = 30 * time.Second
	retryKeys = 2 * time.Second
)

// followKeys tells BIND to read its configuration again whenever the files beside the key file have changed. The
// command is signed with a new key or, as BIND knows none of these yet, with one that worked before.
func (b *bind) followKeys(ctx context.Context) {
	if b.settings.Keys.File == "" {
		return
	}
	folder := filepath.Dir(b.settings.Keys.File)
	changed, stop := b.watch(folder, filepath.Dir(folder))
	defer stop()
	told := digest(folder)
	if !b.allAccepted(ctx) { // they have changed while nobody looked
		told = [sha256.Size]byte{}
	}
	for {
		pause := lookAgain
		if now := digest(folder); now != told {
			if _, err := b.control.server(ctx, "reconfig"); err == nil {
				b.log.Info("the keys have changed and BIND has read its configuration again")
				told = now
			} else {
				b.log.Warn("the keys have changed and BIND has not read its configuration yet", "err", err)
				pause = retryKeys
			}
			b.loaded.stale()
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-changed:
			timer.Stop()
		}
	}
}

// allAccepted reports whether BIND knows every key of the file. Where it does not answer it is starting, and reads them
// itself.
func (b *bind) allAccepted(ctx context.Context) bool {
	keys, err := b.settings.Keys.current()
	for _, key := range keys {
		if ok, err := b.control.client.Accepts(ctx, key); err == nil && !ok {
			return false
		}
	}
	transfer, transferErr := b.settings.Keys.transfer()
	for _, key := range transfer {
		if ok, err := b.acceptsSigned(ctx, key); err == nil && !ok {
			return false
		}
	}
	return err == nil && transferErr == nil
}

// watch tells of changes in folders, which may be replaced while they are watched. Without it the files are looked at
// now and then.
func (b *bind) watch(folders ...string) (changed <-chan struct{}, stop func()) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		b.log.Error("the key file cannot be watched, and is looked at now and then", "every", lookAgain, "err", err)
		return nil, func() {}
	}
	tell, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, folder := range folders {
				_ = watcher.Add(folder) // it may be gone for a moment; what puts it back is an event of the one above it
			}
			select {
			case _, ok := <-watcher.Events:
				if !ok {
					return
				}
			case err, ok := <-watcher.Errors:
				if !ok {
					return
				}
				b.log.Warn("watching the key file", "err", err)
			}
			select {
			case tell <- struct{}{}:
			default:
			}
		}
	}()
	return tell, func() {
		_ = watcher.Close()
		<-ended
	}
}

// digest sums up the files of a folder. What cannot be read counts as empty: a change is seen when it can be again.
func digest(folder string) [sha256.Size]byte {
	sum := sha256.New()
	root, err := filepath.EvalSymlinks(folder)
	if err == nil {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil //nolint:nilerr // what is gone meanwhile is looked at the next time
			}
			text, _ := os.ReadFile(path) //nolint:gosec // whoever can write here can write the keys themselves
			sum.Write([]byte(path[len(root):]))
			sum.Write([]byte{0})
			sum.Write(text)
			return nil
		})
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
