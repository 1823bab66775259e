package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// memory measures what a large zone takes. Nobody asks meanwhile.
func (b *bench) memory(ctx context.Context) (err error) {
	b.say("loading %d records", b.records)
	p, said, err := b.startEmbedded(ctx, "-hosts", strconv.Itoa(b.records))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	rss, peak, err := figures.MemoryOf(p.pid)
	if err != nil {
		return err
	}
	each := float64(said.Heap) / float64(b.records)
	b.note(fmt.Sprintf("loading %d records, each at a name of its own; CPU", b.records), "%.2f s; %.2f s",
		said.Took.Seconds(), said.CPU.Seconds())
	b.note("their heap, octets a record", "%d MiB, %.0f", said.Heap/figures.Mebi, each)
	b.note("memory of the process with them; at its highest, with what they were made of", "%d MiB; %d MiB",
		rss/figures.Mebi, peak/figures.Mebi)
	b.figures["dns_load_s"], b.figures["dns_load_cpu_s"], b.figures["dns_octets_per_record"] = said.Took.Seconds(),
		said.CPU.Seconds(), each
	b.figures["dns_rss_mb"], b.figures["dns_peak_rss_mb"] = rss/figures.Mebi, peak/figures.Mebi
	return nil
}

// transferred is how many records the zone has that is transferred again and again.
const transferred = 100_000

// transfer measures transfers of a zone one after the other, and questions that are asked alone and meanwhile.
func (b *bench) transfer(ctx context.Context) (err error) {
	b.say("%d transfers of %d records", b.transfers, transferred)
	p, _, err := b.startEmbedded(ctx, "-hosts", strconv.Itoa(transferred))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	a, err := newAsker(p.addr)
	if err != nil {
		return err
	}
	defer a.conn.Close()
	var alone, meanwhile figures.Times
	for i := range 20_000 {
		if err := a.next(i, &alone); err != nil {
			return err
		}
	}
	all, ended := make(figures.Times, b.transfers), make(chan error, 1)
	go func() { ended <- p.transfers(all) }()
	for i := 0; ; i++ {
		select {
		case err = <-ended:
			if err != nil {
				return err
			}
			b.p50p99(fmt.Sprintf("AXFR of %d records", transferred), "dns_axfr", all)
			b.p50p99("a question to that server, alone", "dns_question_alone", alone)
			b.p50p99("the same while zones are transferred", "dns_question_during_axfr", meanwhile)
			return nil
		default:
		}
		if err := a.next(i, &meanwhile); err != nil {
			return err
		}
	}
}

// next asks one of many questions.
func (a *asker) next(i int, took *figures.Times) error {
	host := i * 7919 % transferred
	one, err := a.await(host, figures.Address(host))
	*took = append(*took, one)
	return err
}

func (p *process) transfers(all figures.Times) error {
	for i := range all {
		began := time.Now()
		if err := p.axfr(); err != nil {
			return fmt.Errorf("transferring the zone: %w", err)
		}
		all[i] = time.Since(began)
	}
	return nil
}

// axfr takes the zone, and counts its records instead of reading them: a client costs little then, and what is measured
// is the server.
func (p *process) axfr() error {
	conn, err := net.DialTimeout("tcp", p.addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if err := (&dns.Conn{Conn: conn}).WriteMsg(new(dns.Msg).SetAxfr(zoneName)); err != nil {
		return err
	}
	const soaTwice, ns = 2, 1
	in := bufio.NewReaderSize(conn, 1<<16)
	for records := 0; records < transferred+soaTwice+ns; {
		var head [2 + 12]byte // the length, and a message's header (RFC 1035 §4.1.1, §4.2.2)
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return fmt.Errorf("after %d records: %w", records, err)
		}
		if code := head[5] & 15; code != dns.RcodeSuccess {
			return errors.New(dns.RcodeToString[int(code)])
		}
		records += int(binary.BigEndian.Uint16(head[2+6:]))
		if _, err := in.Discard(int(binary.BigEndian.Uint16(head[:])) - 12); err != nil {
			return err
		}
	}
	return nil
}
