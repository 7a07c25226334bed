package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Entry is a line of the ledger.
type Entry struct {
	Time        time.Time `json:"time"`
	OrderID     string    `json:"orderId"`
	Event       string    `json:"event"`
	AmountCents int       `json:"amountCents,omitempty"`
	Items       []string  `json:"items,omitempty"`
	Note        string    `json:"note,omitempty"`
}

// Ledger is a file of JSON lines that one worker writes.
type Ledger struct {
	Path string
	mu   sync.Mutex
}

// Find returns the entry of an order's event, or nil.
func (l *Ledger) Find(orderID, event string) (*Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(orderID, event)
}

// AppendOnce adds an entry, unless the order has one of the same event.
func (l *Ledger) AppendOnce(entry Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if existing, err := l.find(entry.OrderID, entry.Event); err != nil || existing != nil {
		return err
	}
	entry.Time = time.Now().UTC()
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

func (l *Ledger) find(orderID, event string) (*Entry, error) {
	file, err := os.Open(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var entry Entry
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, err
		}
		if entry.OrderID == orderID && entry.Event == event {
			return &entry, nil
		}
	}
	return nil, lines.Err()
}
