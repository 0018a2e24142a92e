#pragma once
int clamp_to_byte(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }
