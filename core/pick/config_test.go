package pick_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/pick"
)

func TestABalanceFactorBelowOneIsRefused(t *testing.T) {
	for _, factor := range []float64{0.5, 0.999, -1, math.NaN()} {
		c := defaults()
		c.HashBalanceFactor = factor
		assert.ErrorContains(t, c.Check(), "accepted: 0 (off) or 1 to 100", factor)
	}
	for _, factor := range []float64{0, 1, 1.25, 100} {
		c := defaults()
		c.HashBalanceFactor = factor
		assert.NoError(t, c.Check(), factor)
	}
}

func TestEveryPolicyIsDescribed(t *testing.T) {
	assert.Equal(t, []string{
		"round_robin", "weighted_round_robin", "least_conn", "p2c", "random", "first",
		"modulo_hash", "ring_hash", "maglev", "rendezvous", "peak_ewma",
	}, pick.Names())
	for _, p := range pick.All {
		assert.NotEmpty(t, p.Summary, p.Name)
		assert.NotEmpty(t, p.When, p.Name)
		found, known := pick.Find(p.Name)
		assert.True(t, known)
		assert.Equal(t, p.Name, found.Name)
	}
	_, known := pick.Find("least-conn")
	assert.False(t, known)
}
