/*
 * Every call of the host fails once.
 */
#ifndef TEST_UNIT_LIB_FAULTS_H
#define TEST_UNIT_LIB_FAULTS_H

#include "base/host.h"

/* Calls `run` with its first call for memory failing, with the second, and so on until none is
 * left, then so with reads and cancels: it fails with the code that is meant, and gives everything
 * back. `spares`: what finds no memory may be done without. */
extern void test_every_fault(BfStatus (*run)(const BfHost *host), bool spares);

#endif
