package pick

import "time"

// Config is what the policies can be told. Which field matters to which
// policy stands in each field's help.
type Config struct {
	HashOn            string        `param:"hash-on" default:"client-ip" serve:"client-ip" help:"what the hashing policies use as key: client-ip, path, header:NAME, cookie:NAME or query:NAME" advanced:"true"`
	RingPoints        int           `param:"ring-points" unit:"points" range:"1,4096" slider:"1,1000" default:"160" help:"ring_hash: points on the ring per unit of weight" advanced:"true"`
	TableSize         int           `param:"table-size" unit:"entries" range:"2,5000011" slider:"7,65537" default:"65537" help:"maglev: entries of the lookup table, a prime" advanced:"true"`
	HashBalanceFactor float64       `param:"hash-balance-factor" range:"0,100" slider:"0,3" step:"0.05" default:"0" help:"ring_hash: a backend may hold this many times the average in flight before its keys walk on; 0 = off, otherwise 1 or more" advanced:"true"`
	Choices           int           `param:"choices" unit:"backends" range:"2,8" default:"2" help:"p2c and peak_ewma: backends drawn for each pick" advanced:"true"`
	EwmaDecay         time.Duration `param:"ewma-decay" unit:"s" range:"1ms,10m" slider:"0.1,60" default:"10" help:"peak_ewma: time in which an old latency loses 63% of its influence" advanced:"true"`
}
