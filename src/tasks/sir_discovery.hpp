// Finding the equations of an epidemic: a neural ODE whose right-hand side is a stack, integrated step by step.
#pragma once

#include <array>
#include <vector>

#include "experiment/task.hpp"

namespace nalm {

// The fractional SIR model: dS/dt = -q + eta*R, dI/dt = q - alpha*I, dR/dt = alpha*I - eta*R, q = beta*I^gamma*S^kappa.
struct Sir {
  double alpha = 0.05, beta = 0.06, eta = 0.01, gamma = 0.5, kappa = 0.5;
};
inline constexpr std::array<double, 3> sir_start{100, 0.01, 0};
inline constexpr double sir_end = 200;
inline constexpr int sir_points = 40;       // equally spaced, both ends included
inline constexpr double sir_lowest = 1e-6;  // states are never below: I^gamma has an infinite slope at 0

// S, I, R at each point.
std::vector<std::array<double, 3>> sir_trajectory(const Sir& sir);

// dU/dt = layer 1(layer 0(U)) by the classic Runge-Kutta method of fourth order, so many steps between two points.
// Input: the state at the first point; outputs: the states at all the others.
Wiring runge_kutta(const Stack& layers, double time, int points, int steps_between);

// The same by Euler's method with steps of 1 and straight lines between them, as published; any number of layers.
Wiring euler(const Stack& layers);

// The published networks, sizes and penalties by Euler's method; quick: a small one, shortly trained.
inline constexpr std::string_view sir_euler_operation = "SIR by Euler";
std::vector<Cell> sir_euler_cells(bool quick);

}  // namespace nalm
