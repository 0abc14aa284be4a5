// Mixes a song down to 16 bits: reads the notes of its tracks, plays them with decaying tones, sends each track through
// its own reverb (parallel combs and serial allpasses) and an equalizer, and writes peaks and a checksum.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

static constexpr int Rate = 44100, Block = 512;

class Comb {
    std::vector<float> buffer;
    size_t at = 0;
    float store = 0, feedback, damp;

public:
    Comb(size_t size, float feedback, float damp) : buffer(size), feedback(feedback), damp(damp) {}

    float process(float in)
    {
        float out = buffer[at];
        store = out * (1 - damp) + store * damp;
        buffer[at] = in + store * feedback;
        if (++at == buffer.size()) at = 0;
        return out;
    }
};

class Allpass {
    std::vector<float> buffer;
    size_t at = 0;

public:
    explicit Allpass(size_t size) : buffer(size) {}

    float process(float in)
    {
        float kept = buffer[at], out = kept - in;
        buffer[at] = in + kept * 0.5f;
        if (++at == buffer.size()) at = 0;
        return out;
    }
};

class Reverb {
    std::vector<Comb> combs;
    std::vector<Allpass> allpasses;
    float wet;

public:
    Reverb(float room, float wet) : wet(wet)
    {
        for (int n : { 278, 297, 319, 339, 355, 372, 389, 404 }) combs.emplace_back(n, room, 0.25f);
        for (int n : { 139, 110, 85, 56 }) allpasses.emplace_back(n);
    }

    void process(float *samples, int count)
    {
        for (int i = 0; i < count; i++) {
            float in = samples[i] * 0.03f, sum = 0;
            for (Comb &c : combs) sum += c.process(in);
            for (Allpass &a : allpasses) sum = a.process(sum);
            samples[i] = samples[i] * (1 - wet) + sum * wet;
        }
    }
};

class Shelf {
    float a, gain, low = 0;

public:
    Shelf(float hz, float gain) : a(1 - std::exp(-2 * 3.14159265f * hz / Rate)), gain(gain) {}

    void process(float *samples, int count)
    {
        for (int i = 0; i < count; i++) {
            low += a * (samples[i] - low);
            samples[i] += low * gain;
        }
    }
};

struct Note {
    int start, length;
    float hz, velocity;
};

struct Track {
    std::string name;
    std::vector<Note> notes;
    std::unique_ptr<Reverb> reverb;
    std::unique_ptr<Shelf> shelf;
    float level = 1, peak = 0;
    size_t next = 0;
    std::vector<std::pair<Note, float>> playing;     // with the phase
};

struct Song {
    std::vector<Track> tracks;
    int length = 0;
};

static Song load_song(const char *path)
{
    Song song;
    std::ifstream in(path);
    std::string line, word;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        words >> word;
        if (word == "length") {
            double seconds;
            words >> seconds;
            song.length = (int)(seconds * Rate);
        } else if (word == "track") {
            Track t;
            float room, wet;
            words >> t.name >> t.level >> room >> wet;
            t.reverb = std::make_unique<Reverb>(room, wet);
            t.shelf = std::make_unique<Shelf>(220.0f, 0.3f);
            song.tracks.push_back(std::move(t));
        } else if (word == "note" && !song.tracks.empty()) {
            double start, length;
            Note n;
            words >> start >> length >> n.hz >> n.velocity;
            n.start = (int)(start * Rate);
            n.length = (int)(length * Rate);
            song.tracks.back().notes.push_back(n);
        }
    }
    return song;
}

static void play_notes(Track &t, int from, float *out, int count)
{
    while (t.next < t.notes.size() && t.notes[t.next].start < from + count) t.playing.emplace_back(t.notes[t.next++], 0.0f);
    for (auto it = t.playing.begin(); it != t.playing.end();) {
        const Note &n = it->first;
        float &phase = it->second, step = n.hz / Rate;
        for (int i = 0; i < count; i++) {
            int at = from + i - n.start;
            if (at < 0 || at >= n.length) continue;
            phase += step;
            if (phase >= 1) phase -= 1;
            float envelope = n.velocity * (1 - (float)at / n.length), tone = phase < 0.5f ? 4 * phase - 1 : 3 - 4 * phase;
            out[i] += tone * envelope;
        }
        if (n.start + n.length <= from + count) it = t.playing.erase(it);
        else ++it;
    }
}

static void process_track(Track &t, int from, float *bus, int count)
{
    float samples[Block] = {};
    play_notes(t, from, samples, count);
    t.reverb->process(samples, count);
    t.shelf->process(samples, count);
    for (int i = 0; i < count; i++) {
        bus[i] += samples[i] * t.level;
        if (std::fabs(samples[i]) > t.peak) t.peak = std::fabs(samples[i]);
    }
}

struct Output {
    uint64_t digest = 1469598103934665603ull, samples = 0, silent = 0;

    void write(const float *bus, int count)
    {
        for (int i = 0; i < count; i++) {
            float v = bus[i] * 6000;
            int16_t s = v > 32767 ? 32767 : v < -32768 ? -32768 : (int16_t)v;
            digest = (digest ^ (uint16_t)s) * 1099511628211ull;
            silent += s == 0;
        }
        samples += count;
    }
};

static void render(Song &song, Output &out)
{
    for (int from = 0; from < song.length; from += Block) {
        float bus[Block] = {};
        int count = song.length - from < Block ? song.length - from : Block;
        for (Track &t : song.tracks) process_track(t, from, bus, count);
        out.write(bus, count);
    }
}

int main()
{
    Song song = load_song("data/song.txt");
    Output out;
    render(song, out);
    for (const Track &t : song.tracks) std::printf("%-8s %4zu notes, peak %.4f\n", t.name.c_str(), t.notes.size(), t.peak);
    std::printf("samples %llu, silent %llu, digest %016llx\n", (unsigned long long)out.samples, (unsigned long long)out.silent,
                (unsigned long long)out.digest);
}
